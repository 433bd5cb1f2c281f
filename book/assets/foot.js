(() => {
  // On a phone, within the thumb's reach: the contents, the search, where one is in a long page, and
  // what comes next. On a wide screen the list at the side shows the place, and this is not there.
  const heads = [...document.querySelectorAll("article.bd-article section > h2")];
  if (heads.length < 3) return;
  const name = (head) => head.textContent.replace(/#$/, "").trim(); // the theme's link to it
  const made = (tag, label, named = {}) => Object.assign(document.createElement(tag), { textContent: label, ...named });
  const press = (selector) => () => document.querySelector(selector)?.click();
  // a page without a list of its own leads to that of all pages
  const aside = document.querySelector(".bd-sidebar-secondary");
  const list = `button.${aside ? "secondary" : "primary"}-toggle`;
  const bar = made("nav", "", { className: "book-foot" });
  bar.setAttribute("aria-label", "In this page");
  const here = made("a", "");
  const next = made("a", "next", { className: "book-foot-next" });
  const share = made("span", "", { className: "book-foot-share" });
  bar.append(
    share,
    made("button", "contents", { onclick: press(list) }),
    made("button", "search", { onclick: press("button.search-button") }),
    here,
    next,
  );
  document.body.append(bar);

  // over the text the list makes way once a section is chosen
  const opened = document.querySelector("#pst-secondary-sidebar-checkbox");
  aside?.addEventListener("click", ({ target }) => {
    if (target.closest("a") && opened) opened.checked = false;
  });

  const after = document.querySelector(".prev-next-area a.right-next, a.right-next");
  let shown = null;
  const show = () => {
    const at = heads.findLastIndex((head) => head.getBoundingClientRect().top < innerHeight / 3);
    const far = scrollY / Math.max(1, document.documentElement.scrollHeight - innerHeight);
    share.style.width = `${Math.min(100, 100 * far)}%`;
    if (at === shown) return;
    shown = at;
    const title = document.querySelector("article.bd-article h1");
    here.textContent = at < 0 ? name(title) : name(heads[at]);
    here.href = at < 0 ? "#" : `#${heads[at].parentElement.id}`;
    const below = heads[at + 1];
    next.href = below ? `#${below.parentElement.id}` : (after?.href ?? "#");
    next.setAttribute("aria-label", below ? `next: ${name(below)}` : "next page");
  };
  const narrow = matchMedia("(max-width: 600px)");
  let asked = false;
  const soon = () => {
    if (asked || !narrow.matches) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      show();
    });
  };
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon);
  show();
})();
