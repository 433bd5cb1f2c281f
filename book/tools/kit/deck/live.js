// A live picture is drawn before it is enlarged: its canvas gets pixels enough for that.
(() => {
  const dense = Math.max(3, window.devicePixelRatio || 1);
  Object.defineProperty(window, "devicePixelRatio", { get: () => dense });
  document.documentElement.dataset.theme = window.parent.document.documentElement.dataset.theme;
})();
