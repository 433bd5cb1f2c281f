// Light or dark before anything is drawn: paper is light, `?theme=dark` asks, else the system says.
(() => {
  const asked = new URLSearchParams(location.search);
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const theme = asked.has("print-pdf") ? "light" : (asked.get("theme") ?? system);
  document.documentElement.dataset.theme = theme;
  // the formulae are set by the deck, when the slides are there
  window.MathJax = {
    startup: { typeset: false },
    svg: { fontCache: "local" },
    options: { menuOptions: { settings: { inTabOrder: false } } },
  };
})();
