// Paper is white: a page read in the dark is printed in the light, and goes back afterwards.
(() => {
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
})();
