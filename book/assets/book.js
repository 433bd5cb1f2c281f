(() => {
  // Paper is white: a page read in the dark is printed in the light, and goes back afterwards. A
  // picture that is folded up stands over its caption.
  const root = document.documentElement;
  let before = null;
  let folded = [];
  window.addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    folded = [...document.querySelectorAll(".figure-cell.tag_hide-cell > details:not([open])")];
    for (const one of folded) Object.assign(one, { open: true }).classList.add("on-paper");
  });
  window.addEventListener("afterprint", () => {
    if (before !== null) root.dataset.theme = before;
    before = null;
    for (const one of folded) Object.assign(one, { open: false }).classList.remove("on-paper");
    folded = [];
  });

  // What scrolls by itself must be within reach of the keyboard.
  const boxes = `.pst-scrollable-table-container, .math, .cell_output:has(> img, > .image-reference),
    .cell_output div.attnbook-drawing:not(figure *), .attnbook-fallback > .attnbook-scroll, .cell_output pre`;
  const reach = ({ target }) => {
    const place = target.matches?.("details") ? target : document;
    const found = [...place.querySelectorAll(boxes)].map((box) => [box, box.scrollWidth > box.clientWidth]);
    for (const [box, wide] of found) {
      if (wide) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };

  // A live picture is called what its caption says, which stands in the cell below it.
  for (const figure of document.querySelectorAll(".cell_output figure.attnbook")) {
    const next = figure.closest(".cell").nextElementSibling;
    if (!next?.matches("p") || !/^Figure \d/.test(next.textContent)) continue;
    next.id ||= next.textContent.match(/^Figure [\d.]*\d/)[0].toLowerCase().replace(/[ .]/g, "-");
    figure.setAttribute("aria-labelledby", next.id);
  }

  // Forty buttons called "Copy" sound alike: each is called by its place and the code's first line.
  const copies = () => {
    for (const [index, button] of document.querySelectorAll(".copybtn").entries()) {
      const code = document.querySelector(button.dataset.clipboardTarget)?.textContent ?? "";
      const first = code.trim().split("\n")[0].replace(/^# (@title )?/, "").slice(0, 60).trim();
      button.setAttribute("aria-label", `Copy code ${index + 1}: ${first}`);
    }
    const said = document.createElement("p");
    said.className = "visually-hidden book-copied";
    said.setAttribute("role", "status");
    document.body.append(said);
    // its name stays, so what the tooltip tells the eye is said beside it
    const hear = new MutationObserver(([{ target }]) => {
      said.textContent = target.classList.contains("success") ? target.dataset.tooltip : "";
    });
    for (const button of document.querySelectorAll(".copybtn")) {
      hear.observe(button, { attributeFilter: ["class", "data-tooltip"] });
    }
  };

  // An old link may name a section that has another name now: say so, and help to find it.
  const lost = () => {
    document.querySelector(".book-lost")?.remove();
    let name = location.hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch {} // a lone per cent sign: as it stands
    if (!name || name === "top" || document.getElementById(name)) return;
    const said = document.createElement("p");
    said.className = "book-lost";
    said.setAttribute("role", "status");
    const link = document.createElement("a");
    const words = name.replace(/[-_]+/g, " ");
    const root = document.documentElement.dataset.content_root || "./";
    link.href = `${root}search.html?q=${encodeURIComponent(words)}`;
    link.textContent = `Search the book for “${words.slice(0, 60)}”`;
    said.append("This page has no section of the name that the link asked for. ", link, ".");
    document.querySelector("article.bd-article")?.prepend(said);
  };
  lost();
  window.addEventListener("hashchange", lost);

  // A plot is fetched when it comes near, or when the page has nothing else to do: paper has all.
  const fetched = () => {
    for (const plot of document.querySelectorAll("img[loading=lazy]")) plot.loading = "eager";
  };
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 2000));
  window.addEventListener("load", () => setTimeout(() => idle(fetched), 1000));
  window.addEventListener("beforeprint", fetched);

  window.addEventListener("load", () => setTimeout(() => root.classList.add("is-loaded"), 100));
  window.addEventListener("load", copies); // when the script that makes the buttons has run
  window.addEventListener("load", reach);
  window.addEventListener("resize", reach);
  document.addEventListener("toggle", reach, true); // what was folded up had no width
})();
