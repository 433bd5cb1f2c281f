// Few stops for the Tab key: the list of pages, the contents of a page, and the code of a section
// with its hints, answers, terms and links are one stop each, and arrow keys go on within them.
// Without this script each part is a stop.
(() => {
  const PAGES = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };
  const CODE = { ArrowLeft: -1, ArrowRight: 1 }; // up and down scroll the code that was unfolded
  const PARTS = "section section:not(section section section)";
  const OF_CODE = ".cell:not(.tag_solution) :is(details.above-input > summary, .copybtn)";
  const LINK = ".attnbook-ref, body:has(.lecture-plan) a.reference"; // other pages are lists of links
  const FOLD = "details:not(.above-input) > summary";
  const is = (selector, word) => (box) => box.matches(selector) && (!word || box.textContent.startsWith(word));
  const KINDS = {
    code: is(OF_CODE),
    hints: is(FOLD, "Hint "),
    answers: is(FOLD, "Answer"),
    terms: is(".attnbook-term"),
    links: is(LINK),
  };
  const STOP = "data-stop";

  const groups = [];
  const hint = document.createElement("p");
  hint.className = "book-keys d-print-none";
  hint.setAttribute("aria-hidden", "true"); // aria-keyshortcuts tells a screen reader

  const shown = (box) => box.checkVisibility({ visibilityProperty: true });

  /** Let Tab stop at this member alone. */
  const keep = (group, chosen) => {
    for (const one of group.members()) {
      one.tabIndex = one === chosen ? 0 : -1;
      one.setAttribute("aria-keyshortcuts", Object.keys(group.keys).join(" "));
      one.toggleAttribute(STOP, one === chosen);
    }
  };

  /** Where Tab would stop at nothing, as what was unfolded is folded up again: the first in sight. */
  const settle = (group) => {
    const found = group.members().filter(shown);
    const chosen = found.find((one) => one.hasAttribute(STOP)) ?? group.first(found);
    return () => chosen && keep(group, chosen);
  };

  const add = (keys, told, members, first = (found) => found[0]) => {
    if (members().length > 1) groups.push({ keys, told, members, first });
  };

  const of = (box) => groups.find((group) => group.members().includes(box));

  const find = () => {
    const lists = [
      [".bd-docs-nav", "↑ ↓  the other pages"],
      [".bd-toc-nav", "↑ ↓  the other sections"],
    ];
    for (const [name, told] of lists) {
      const list = document.querySelector(name);
      const members = () => [...list.querySelectorAll("a, summary")];
      const here = (found) => found.find((one) => one.matches(".current, [aria-current]")) ?? found[0];
      if (list) add(PAGES, told, members, here);
    }
    const article = document.querySelector("article.bd-article");
    if (!article) return;
    const parts = new Map();
    for (const box of article.querySelectorAll("summary, button, dfn, a")) {
      if (!Object.values(KINDS).some((fits) => fits(box))) continue;
      const part = box.closest(PARTS);
      parts.set(part, [...(parts.get(part) ?? []), box]);
    }
    for (const members of parts.values()) {
      const kinds = Object.keys(KINDS).filter((kind) => members.some(KINDS[kind]));
      const told = kinds.join(", ").replace(/, (?=[a-z]+$)/, " and ");
      add(CODE, `← →  the other ${told} of this section`, () => members);
    }
  };

  // first all that is read of the page, then all that is written: its layout is made once
  const settleAll = () => groups.map(settle).forEach((write) => write());

  document.addEventListener("focusin", ({ target }) => {
    const group = of(target);
    if (group) keep(group, target);
    hint.textContent = group?.told ?? "";
    hint.hidden = !group || !target.matches(":focus-visible");
  });
  document.addEventListener("focusout", () => {
    hint.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const group = of(event.target);
    const change = group?.keys[event.key];
    if (!change) return;
    event.preventDefault();
    const found = group.members().filter(shown);
    const place = found.indexOf(event.target) + change;
    found[Math.max(0, Math.min(place, found.length - 1))].focus();
  });
  // a fold may hide the stop; and the list of pages is hidden where the page is narrow
  document.addEventListener("toggle", settleAll, true);
  window.addEventListener("resize", settleAll);

  const start = () => {
    document.body.append(hint);
    hint.hidden = true;
    find();
    settleAll();
  };
  // the buttons that copy code are there by then
  if (document.readyState === "complete") start();
  else window.addEventListener("load", start);
})();
