// A live picture is drawn before it is enlarged: its canvas gets pixels enough for that.
(() => {
  const dense = Math.max(3, window.devicePixelRatio || 1);
  Object.defineProperty(window, "devicePixelRatio", { get: () => dense });
  const deck = window.parent;
  document.documentElement.dataset.theme = deck.document.documentElement.dataset.theme;
  document.body.toggleAttribute("data-paper", new URLSearchParams(deck.location.search).has("print-pdf"));
})();
