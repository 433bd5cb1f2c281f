(() => {
  // Which questions a reader has done or tried, what was answered and where one was, kept in this
  // browser alone. A page that cannot keep anything works without it, and says nothing of it.
  const KEY = "attention-worked-out:done";
  const TRIED = "attention-worked-out:tried"; // answered, and not right, or not yet
  const SAID = "attention-worked-out:said"; // by page and question: its traits
  const PLACE = "attention-worked-out:place"; // [page, address, number] of the section last read
  const ASKED = ["answer", "bughunt", "checkpoint", "prediction"];
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href).href;
  const nameOf = (address) =>
    address.startsWith(root) ? decodeURI(address.slice(root.length)).replace(/\.html.*$/, "") : "";
  const here = nameOf(location.href) || "index";

  /** FNV-1a of a question's text: the same as in attnbook_progress.py. */
  const idOf = (text) => {
    let hash = 0x811c9dc5;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    return (hash >>> 0).toString(16);
  };

  const questionOf = (figure) => {
    try {
      return idOf(JSON.parse(figure.querySelector("script").textContent).question);
    } catch {
      return "";
    }
  };

  // page by page the questions there are, as the build found them, those that are done or were tried
  const asked = globalThis.attnbookQuestions || {};
  let memory = { [KEY]: {}, [TRIED]: {} };
  const kept = () => {
    for (const [key, pages] of Object.entries(memory)) {
      const before = found(key);
      for (const page of Object.keys(asked))
        if (Array.isArray(before[page])) pages[page] = [...new Set([...(pages[page] || []), ...before[page]])];
    }
  };
  const store = (key, value) => {
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch {} // absent or full: known until the page is left
  };
  const found = (key) => {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? {};
    } catch {
      return {}; // absent, or not ours
    }
  };
  const isDone = (page, id) => (memory[KEY][page] || []).includes(id);
  const isTried = (page, id) => !isDone(page, id) && (memory[TRIED][page] || []).includes(id);
  /** Of these questions of a page how many are done, how many there are, how many were tried alone. */
  const countOf = (page, ids = asked[page] || []) =>
    [ids.filter((id) => isDone(page, id)).length, ids.length, ids.filter((id) => isTried(page, id)).length];
  /** Keep that a figure's question is done, or was tried; say whether that is new. */
  const note = (key, figure) => {
    const id = questionOf(figure);
    if (!(asked[here] || []).includes(id)) return false;
    kept();
    if (isDone(here, id) || (memory[key][here] || []).includes(id)) return false;
    memory[key][here] = [...(memory[key][here] || []), id];
    store(key, memory[key]);
    return true;
  };

  const made = (tag, name, ...children) => {
    const node = document.createElement(tag);
    node.className = name;
    node.append(...children);
    return node;
  };
  const also = (tried) => (tried ? `, ${tried} tried` : "");
  const words = (done, all, tried) => `${done} of ${all} question${all === 1 ? "" : "s"} done${also(tried)}`;
  /** A count for the eye, and in words for the ear. */
  const twice = (done, all, tried) => {
    const shown = made("span", "", `${done}/${all}${also(tried)}`);
    shown.setAttribute("aria-hidden", "true");
    return [shown, made("span", "visually-hidden", ` (${words(done, all, tried)})`)];
  };

  // the plan beside the lecture: how many of a section's questions are done
  const sections = new Map();
  const gather = () => {
    const all = ASKED.map((kind) => `article.bd-article figure.attnbook-${kind}`).join(", ");
    for (const figure of document.querySelectorAll(all)) {
      let section = figure.closest("section");
      while (section && !section.querySelector(":scope > h2")) section = section.parentElement.closest("section");
      const id = questionOf(figure);
      if (!section || !id) continue;
      const link = document.querySelector(`.lecture-plan a[href="#${section?.id}"]`);
      if (!link) continue;
      if (!sections.has(section)) {
        const mark = made("span", "plan-done");
        link.append(mark);
        sections.set(section, { mark, ids: [] });
      }
      if (!sections.get(section).ids.includes(id)) sections.get(section).ids.push(id);
    }
  };
  const drawSections = () => {
    for (const { mark, ids } of sections.values()) {
      const [done, all, tried] = countOf(here, ids);
      mark.hidden = !done && !tried; // nothing is said of what is not begun
      mark.replaceChildren(...twice(done, all, tried));
    }
    for (const figure of figures.keys()) figure.toggleAttribute("data-tried", isTried(here, questionOf(figure)));
  };

  // a count for each lecture that was begun, in the sidebar and in the list of the first page
  const drawLectures = () => {
    for (const old of document.querySelectorAll(".progress-count")) old.remove();
    const first = here === "book/index" ? ", article.bd-article li > p > a:first-child, .lecture-path a" : "";
    for (const link of document.querySelectorAll(`nav.bd-links a${first}`)) {
      const page = nameOf(link.href);
      const [done, all, tried] = countOf(page);
      if (!done && !tried) continue;
      const count = made("span", "progress-count", ...twice(done, all, tried));
      if (done === all) count.classList.add("is-done");
      if (link.closest("nav")) link.append(count);
      else if (link.closest(".lecture-path")) link.lastElementChild.append(count);
      else link.parentElement.append(count);
    }
  };

  // the sum, and the way to forget it all
  const sum = made("span", "");
  const button = made("button", "", "forget");
  const foot = made("p", "progress-sum", sum, button);
  const drawSum = () => {
    const counts = Object.keys(asked).map((page) => countOf(page));
    const sums = [0, 1, 2].map((at) => counts.reduce((sum, count) => sum + count[at], 0));
    const begun = sums[0] || sums[2] || Object.keys(found(SAID)).length;
    if (begun && !foot.isConnected) document.querySelector("nav.bd-links")?.append(foot);
    sum.textContent = words(...sums);
    button.hidden = !begun;
  };
  button.type = "button";
  button.setAttribute("aria-label", "forget which questions are done or tried, what was answered, and where you were");
  foot.tabIndex = -1;
  button.addEventListener("click", () => {
    try {
      for (const key of [KEY, TRIED, SAID, PLACE]) localStorage.removeItem(key);
    } catch {} // there was nothing
    memory = { [KEY]: {}, [TRIED]: {} };
    draw();
    foot.focus(); // the button that had the focus is gone
  });

  /** Whether what is kept of a question was judged; see the kinds that ask. */
  const judged = ({ checked, chosen, tries, pressed }) => (checked && chosen?.length !== 0) || tries || pressed?.length;

  // what was answered is put back into what a question starts from, before it does; the text of all
  // that it is made of is its name there, so that an answer to what was changed since is not its own
  const figures = new Map();
  const like = (kept, fresh) => typeof kept === typeof fresh && Array.isArray(kept) === Array.isArray(fresh);
  const restore = () => {
    const mine = found(SAID)[here] ?? {};
    for (const figure of document.querySelectorAll(ASKED.map((kind) => `figure.attnbook-${kind}`).join(", "))) {
      const script = figure.querySelector("script");
      const id = idOf(script.textContent);
      figures.set(figure, id);
      if (!mine[id]) continue;
      const state = JSON.parse(script.textContent);
      const traits = Object.entries(mine[id]).filter(([name, value]) => like(value, state[name]));
      script.textContent = JSON.stringify({ ...state, ...Object.fromEntries(traits) });
      if (judged(mine[id])) note(TRIED, figure);
    }
  };
  document.addEventListener("attnbook:said", ({ target, detail }) => {
    const all = found(SAID);
    store(SAID, { ...all, [here]: { ...all[here], [figures.get(target)]: detail } });
    if (judged(detail) && note(TRIED, target)) draw();
    else drawSum();
  });

  // where one was, for the first page, which leads back to it: the section that was read when the
  // page was left, or whose question was answered, since a phone may end a page without a word
  const leave = ({ target }) => {
    const section = target.closest?.("section:has(> h2)");
    const which = section ? `[href="#${section.id}"]` : "[aria-current]";
    const link = document.querySelector(`.lecture-plan a${which}`);
    if (link) store(PLACE, [here, link.hash, link.querySelector("b").textContent]);
  };
  addEventListener("pagehide", leave);
  for (const name of ["visibilitychange", "attnbook:said"]) document.addEventListener(name, leave);
  const drawPlace = () => {
    document.querySelector(".progress-on")?.remove();
    const [page, place, number] = Array.isArray(found(PLACE)) ? found(PLACE) : [];
    const words = document.querySelector("article .landing-words");
    if (here !== "book/index" || !words || !Object.hasOwn(asked, page)) return;
    const link = made("a", "", `lecture ${parseInt(number, 10)}, section ${number}`);
    link.href = `${root}${page}.html${place}`;
    const [done, all, tried] = countOf(page);
    const answered = done || tried ? `, ${done} of ${all} answered${also(tried)}` : "";
    words.prepend(made("p", "progress-on", "Go on: ", link, `${answered}.`));
  };

  const draw = () => {
    drawSections();
    drawPlace();
    drawLectures();
    drawSum();
  };

  document.addEventListener("attnbook:done", ({ target }) => {
    const figure = target.closest("figure.attnbook");
    if (!figure) return;
    // the answer that a reader asked for is not the reader's own
    const given = figure.querySelector(".attnbook-said:not(.attnbook-right)");
    if (!note(given ? TRIED : KEY, figure)) return;
    leave({ target });
    draw();
  });
  window.addEventListener("storage", ({ key }) => {
    if (![KEY, TRIED, null].includes(key)) return;
    memory = { [KEY]: {}, [TRIED]: {} }; // another window may have forgotten it all
    kept();
    draw();
  });

  window.addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return; // gone back to: other pages may have kept something since
    kept();
    draw();
  });

  const start = () => {
    kept();
    restore();
    gather();
    draw();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
