// Joins the built book's pages into this one: unique ids, links from page to page as links within
// it, what the lectures fold up moved to a chapter of answers, and a table of contents. Where a
// page's number belongs stands an empty <span class="page" data-of="id">.
async ({ root, parts, about, answers }) => {
  const book = document.querySelector("article");
  const listed = new Set([root, ...parts.flatMap((part) => part.pages)]);
  const key = (name, id) => name.replace(/\W+/g, "-") + (id ? `--${id}` : "");
  const make = (tag, properties, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const numbered = (id) => {
    const span = make("span", { className: "page", textContent: "000" });
    span.dataset.of = id;
    return span;
  };
  const link = (id, ...children) => make("a", { href: `#${id}` }, ...children);

  // ---- one page ----

  async function load(name) {
    const url = new URL(`/${name}.html`, location.href);
    const page = new DOMParser().parseFromString(await (await fetch(url)).text(), "text/html");
    for (const sheet of page.querySelectorAll('link[rel="stylesheet"]')) style(new URL(sheet.getAttribute("href"), url));
    const article = document.importNode(page.querySelector("article > section"), true);
    const unwanted = ".headerlink, [role=tooltip], script:not([type='application/json'])";
    for (const node of article.querySelectorAll(unwanted)) node.remove();
    for (const node of [article, ...article.querySelectorAll("[id]")]) node.id = key(name, node.id);
    for (const image of article.querySelectorAll("img")) image.src = new URL(image.getAttribute("src"), url);
    for (const one of article.querySelectorAll("a[href]")) lead(one, new URL(one.getAttribute("href"), url));
    for (const one of article.querySelectorAll("p > strong:first-child"))
      if (/^Figure \d/.test(one.textContent)) one.parentNode.classList.add("of-figure");
    return article;
  }

  const styled = new Set();
  function style({ pathname }) {
    if (styled.has(pathname) || /\/attnbook-/.test(pathname)) return; // live pictures have one for all
    styled.add(pathname);
    document.querySelector("#last").before(make("link", { rel: "stylesheet", href: pathname }));
  }

  function lead(one, { origin, pathname, hash }) {
    if (origin !== location.origin) return;
    const name = decodeURIComponent(pathname).slice(1).replace(/\.html$/, "");
    if (listed.has(name)) one.setAttribute("href", `#${key(name, decodeURIComponent(hash.slice(1)))}`);
    else one.replaceWith(...one.childNodes); // a picture's own file, the search: not on paper
  }

  /** A heading one level lower, for a part's title stands above its chapters. */
  function lower(heading) {
    const level = Number(heading.tagName[1]) + 1;
    const lowered = make(`h${Math.min(level, 6)}`, { className: heading.className }, ...heading.childNodes);
    heading.replaceWith(lowered);
  }

  // ---- what is folded up ----

  let count = 0;
  function unfold(article) {
    const found = [];
    for (const fold of article.querySelectorAll("details")) {
      const cell = fold.closest(".cell");
      const hidden = fold.classList.contains("hide");
      if (hidden && !cell.matches(".tag_hide-cell, .tag_hide-output")) {
        fold.remove(); // set-up, and code that draws a picture
        continue;
      }
      const id = `answer-${++count}`;
      const name = (fold.querySelector(".expanded") ?? fold.querySelector("summary")).textContent.trim();
      const title = name.startsWith("Hide code") ? "What it prints" : name[0].toUpperCase() + name.slice(1);
      const question = fold.closest("figure.attnbook")?.querySelector("b")?.textContent ?? "";
      const here = make("p", { className: "answered", id: `question-${count}` }, link(id, `${title}: page `, numbered(id)));
      fold.querySelector("summary").remove();
      const remark = fold.querySelector("pre > .c1");
      if (remark?.textContent.startsWith("# @title")) {
        remark.nextSibling.data = remark.nextSibling.data.replace(/^\n/, "");
        remark.remove(); // it is the title above
      }
      fold.replaceWith(here);
      const head = make("p", { className: "answer-head", id });
      head.append(make("b", {}, title), question && ` to: ${question}`, " ", link(here.id, "page ", numbered(here.id)));
      found.push(make("div", { className: "answer" }, head, make("div", { className: hidden ? "cell" : "" }, ...fold.childNodes)));
    }
    // a cell to fill in says that it is blank
    for (const output of article.querySelectorAll(".cell_output"))
      if (/^\s*Exercise \d+: still blank/.test(output.textContent)) output.remove();
    return found;
  }

  // ---- the book ----

  const rules = [];
  const contents = make("nav", { className: "book-contents" });
  /** Lists a heading in the contents. */
  function list(kind, id, heading) {
    const title = heading.cloneNode(true);
    const line = link(id, make("span", {}, ...title.childNodes), make("span", { className: "dots" }), numbered(id));
    contents.append(make("p", { className: kind }, line));
  }

  /** Adds a chapter, with its title in the contents and in the head of each of its pages. */
  function add(id, article) {
    const title = article.querySelector("h1, h2");
    const name = `chapter-${rules.length}`;
    rules.push(`@page ${name} { @top-center { content: ${JSON.stringify(title.textContent)} } }`);
    const chapter = make("div", { className: "chapter", id }, article);
    chapter.style.page = name;
    book.append(chapter);
    list("in-part", id, title);
    return title;
  }

  const first = await load(root);
  first.querySelector("h1").textContent = about;
  add(key(root), first);

  const kept = make("section", {}, make("h1", {}, answers.title), make("p", {}, answers.text));
  for (const { caption, pages } of parts) {
    const lectures = pages.some((name) => /notebooks\/\d/.test(name));
    if (!lectures && !kept.parentNode) add("answers", kept);
    const [, number, title] = caption.match(/^(?:([IVX]+)\. )?(.*)$/);
    const id = `part-${number ?? title.replace(/\W+/g, "-")}`;
    const head = make("h1", {}, number ? make("small", {}, `Part ${number} `) : "", title);
    book.append(make("section", { className: "part", id }, head));
    list("is-part", id, head);
    for (const name of pages) {
      const article = await load(name);
      for (const heading of article.querySelectorAll("h1, h2, h3, h4, h5")) lower(heading);
      const found = unfold(article);
      const title = add(key(name), article);
      if (found.length) kept.append(make("section", {}, make("h2", {}, title.textContent), ...found));
      if (!lectures) continue;
      for (const one of article.querySelectorAll("section > h3")) list("in-chapter", one.parentNode.id, one);
    }
  }
  if (!kept.parentNode) add("answers", kept);
  contents.prepend(make("h1", {}, "Contents"));
  book.prepend(contents);
  document.head.append(make("style", {}, rules.join("\n")));

  // by the attribute: a link within a drawing has no hash
  const dead = [...book.querySelectorAll('a[href^="#"]')].map((one) => one.getAttribute("href").slice(1));
  return dead.filter((id) => !document.getElementById(decodeURIComponent(id)));
}
