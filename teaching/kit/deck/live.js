// A live picture is drawn before it is enlarged: its canvas gets pixels enough for that, and letters
// of 12 pixels at least. A drawing that is too tall shows a half of it, or both side by side.
(() => {
  const dense = Math.max(3, window.devicePixelRatio || 1);
  Object.defineProperty(window, "devicePixelRatio", { get: () => dense });
  const deck = window.parent;
  document.documentElement.dataset.theme = deck.document.documentElement.dataset.theme;
  document.body.toggleAttribute("data-paper", new URLSearchParams(deck.location.search).has("print-pdf"));
  const font = Object.getOwnPropertyDescriptor(CanvasRenderingContext2D.prototype, "font");
  const large = (value) => value.replace(/[\d.]+(?=px)/, (size) => Math.max(size, 12));
  Object.defineProperty(CanvasRenderingContext2D.prototype, "font", {
    ...font,
    set(value) {
      font.set.call(this, large(value));
    },
  });

  /** Show a drawing from a height to another. */
  function view(svg, top, bottom) {
    const width = svg.viewBox.baseVal.width;
    svg.setAttribute("viewBox", `0 ${top} ${width} ${bottom - top}`);
    svg.setAttribute("height", bottom - top);
    svg.classList.add("half");
  }

  /** A second sight of a drawing, which follows it and passes clicks on. */
  function mirror(svg) {
    const twin = svg.cloneNode(true);
    twin.setAttribute("aria-hidden", "true");
    const follow = () => twin.replaceChildren(...svg.cloneNode(true).childNodes);
    new MutationObserver(follow).observe(svg, { subtree: true, childList: true, attributes: true });
    twin.addEventListener("click", ({ target }) => {
      const at = [...twin.children].findIndex((one) => one.contains(target));
      svg.children[at]?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    });
    svg.after(twin);
    return twin;
  }

  addEventListener("load", () => {
    const { cut, half } = document.body.dataset;
    const svg = cut && document.querySelector(".attnbook-live svg");
    if (!svg) return;
    const { height } = svg.viewBox.baseVal;
    if (half === "both") view(mirror(svg), cut, height);
    view(svg, half === "lower" ? cut : 0, half === "lower" ? height : cut);
  });
})();
