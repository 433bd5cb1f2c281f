(() => {
  // Which questions a reader has done, kept in this browser alone and shown as quiet marks. A page
  // that cannot keep anything works without them, and says nothing of it.
  const KEY = "attention-worked-out:done";
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

  // page by page the questions there are, as the build found them, and those that are done
  const asked = globalThis.attnbookQuestions || {};
  let memory = {};
  const kept = () => {
    try {
      const found = JSON.parse(localStorage.getItem(KEY)) || {};
      for (const page of Object.keys(asked)) {
        if (Array.isArray(found[page])) memory[page] = [...new Set([...(memory[page] || []), ...found[page]])];
      }
    } catch {} // absent, or not ours
    return memory;
  };
  const keep = () => {
    try {
      localStorage.setItem(KEY, JSON.stringify(memory));
    } catch {} // absent or full: known until the page is left
  };
  const doneOf = (page) => (asked[page] || []).filter((id) => (memory[page] || []).includes(id)).length;

  const made = (tag, name, ...children) => {
    const node = document.createElement(tag);
    node.className = name;
    node.append(...children);
    return node;
  };
  const words = (done, all) => `${done} of ${all} question${all === 1 ? "" : "s"} done`;

  // the plan's bar at the head of the lecture: each section is filled as its questions are done
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
        const mark = made("i", "plan-done");
        link.append(mark);
        sections.set(section, { link, mark, title: link.title, ids: [] });
      }
      if (!sections.get(section).ids.includes(id)) sections.get(section).ids.push(id);
    }
  };
  const drawSections = () => {
    const mine = memory[here] || [];
    for (const { link, mark, title, ids } of sections.values()) {
      const done = ids.filter((id) => mine.includes(id)).length;
      link.title = `${title}: ${words(done, ids.length)}`;
      link.querySelector(".visually-hidden").textContent = link.title;
      mark.style.width = `${(100 * done) / ids.length}%`;
    }
  };

  // a count for each lecture that was begun, in the sidebar and in the list of the first page
  const drawLectures = () => {
    for (const old of document.querySelectorAll(".progress-count")) old.remove();
    const first = here === "book/index" ? ", article.bd-article li > p > a:first-child" : "";
    for (const link of document.querySelectorAll(`nav.bd-links a${first}`)) {
      const page = nameOf(link.href);
      const done = doneOf(page);
      if (!done) continue;
      const shown = made("span", "", `${done}/${asked[page].length}`);
      shown.setAttribute("aria-hidden", "true");
      const told = made("span", "visually-hidden", ` (${words(done, asked[page].length)})`);
      const count = made("span", "progress-count", shown, told);
      if (done === asked[page].length) count.classList.add("is-done");
      if (link.closest("nav")) link.append(count);
      else link.parentElement.append(count);
    }
  };

  // the sum, and the way to forget it all
  const sum = made("span", "");
  const button = made("button", "", "forget");
  const foot = made("p", "progress-sum", sum, button);
  const drawSum = () => {
    const pages = Object.keys(asked);
    const done = pages.reduce((count, page) => count + doneOf(page), 0);
    const all = pages.reduce((count, page) => count + asked[page].length, 0);
    if (done && !foot.isConnected) document.querySelector("nav.bd-links")?.append(foot);
    sum.textContent = words(done, all);
    button.hidden = !done;
  };
  button.type = "button";
  button.setAttribute("aria-label", "forget which questions are done");
  foot.tabIndex = -1;
  button.addEventListener("click", () => {
    try {
      localStorage.removeItem(KEY);
    } catch {} // there was nothing
    memory = {};
    draw();
    foot.focus(); // the button that had the focus is gone
  });

  const draw = () => {
    drawSections();
    drawLectures();
    drawSum();
  };

  document.addEventListener("attnbook:done", ({ target }) => {
    const figure = target.closest("figure.attnbook");
    const id = figure && questionOf(figure);
    if (!id || !(asked[here] || []).includes(id)) return;
    kept();
    if ((memory[here] || []).includes(id)) return;
    memory[here] = [...(memory[here] || []), id];
    keep();
    draw();
  });
  window.addEventListener("storage", ({ key }) => {
    if (key !== KEY && key !== null) return;
    memory = {}; // another window may have forgotten it all
    kept();
    draw();
  });

  const start = () => {
    kept();
    gather();
    draw();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
