(() => {
  // Paper is white: a page read in the dark is printed in the light, and goes back afterwards.
  const root = document.documentElement;
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
  });
  window.addEventListener("afterprint", () => {
    if (before !== null) root.dataset.theme = before;
    before = null;
  });

  // What scrolls by itself must be within reach of the keyboard.
  const boxes = '.pst-scrollable-table-container, .cell_output:has(> img, > .image-reference)';
  const reach = () => {
    for (const box of document.querySelectorAll(boxes)) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
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

  window.addEventListener("load", reach);
  window.addEventListener("resize", reach);
})();
