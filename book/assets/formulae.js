(() => {
  // Formulae are set once the pictures in sight have been drawn: those in sight first, a few at a
  // time, so that the page answers in between; for the print all that are left, at once.
  const MANY = 3;
  const waiting = [...document.querySelectorAll(".math, .output_area")];
  if (!waiting.length) return;
  const seen = (one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  const turn = () => new Promise((resolve) => setTimeout(resolve));

  const set = async () => {
    waiting.sort((a, b) => seen(b) - seen(a));
    while (waiting.length) {
      await MathJax.typesetPromise(waiting.splice(0, MANY));
      await turn();
    }
    dispatchEvent(new Event("formulae")); // book.js looks which of them scroll
  };
  addEventListener("beforeprint", () => MathJax.typeset?.(waiting.splice(0)));

  // part after part: the file that holds them all is one long task
  const load = ["input/tex", "output/chtml", "a11y/assistive-mml", "ui/menu"];
  window.MathJax = { ...window.MathJax, loader: { load }, startup: { pageReady: set } };
  addEventListener("DOMContentLoaded", () => {
    const script = document.createElement("script");
    script.src = `${document.documentElement.dataset.content_root || "./"}_static/mathjax/startup.js`;
    document.head.append(script);
  });
})();
