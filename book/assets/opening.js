// A lecture's opening picture that has steps moves by itself, once, when it is first seen: to where
// it stood, from the first step after which it is about as tall as there, so that it leaves no hole
// below itself. Any press, key or wheel stops it; where nothing may move it stands.
(() => {
  const figure = document.querySelector(".lecture-opening figure.attnbook");
  // the formulas of these steps are of many heights, and would push what is below them about
  if (!figure || figure.matches(".attnbook-steps")) return;
  if (matchMedia("(prefers-reduced-motion: reduce), print").matches) return;
  const PACE = 700; // milliseconds from step to step
  const MOST_OF = 0.6; // of the picture, or of the window, is in sight: then it moves
  const TALL = 0.85; // of the picture where it stood
  const HANDS = ["pointerdown", "keydown", "wheel", "touchstart", "beforeprint"];
  const hushed = new Map();
  let timer = 0;

  const steps = () => figure.querySelector(".attnbook-stepper");
  const out = (at) => [...steps().querySelectorAll(":scope > button")].at(at).getAttribute("aria-disabled") === "true";
  const ended = () => out(-1);
  const key = (name) => steps().dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  const button = (name) => [...figure.querySelectorAll("button")].find((one) => one.textContent === name);

  const stop = () => {
    clearTimeout(timer);
    seen.disconnect();
    for (const hand of HANDS) removeEventListener(hand, halt, true);
    // what each step says was hidden from a screen reader, as nobody had asked for it
    for (const [line, live] of hushed) {
      if (live === null) line.removeAttribute("aria-live");
      else line.setAttribute("aria-live", live);
    }
    figure.removeAttribute("data-moving");
    figure.style.minHeight = "";
  };
  const halt = ({ isTrusted, target }) => {
    if (!isTrusted) return; // it is this script's own key
    const pause = button("pause");
    stop();
    if (pause && !pause.contains(target)) pause.click();
  };
  const tick = () => {
    if (ended()) return stop();
    if (!button("pause")) key("ArrowRight"); // else it plays by its own clock
    timer = setTimeout(tick, PACE);
  };
  const back = (tall) => {
    const low = () => figure.offsetHeight < TALL * tall;
    while (!low() && !out(0)) key("ArrowLeft");
    if (low()) key("ArrowRight");
    if (ended()) key("Home"); // all before it are lower
  };
  const begin = () => {
    if (!steps()) return stop();
    figure.dataset.moving = "";
    for (const line of figure.querySelectorAll("[aria-live], [role=status]")) {
      hushed.set(line, line.getAttribute("aria-live"));
      line.setAttribute("aria-live", "off");
    }
    const tall = figure.offsetHeight;
    if (button("play")) button("play").click();
    else if (!ended()) return stop(); // it stands in the middle, as its author chose
    else back(tall);
    figure.style.minHeight = `${tall}px`; // what is below it stays where it is
    timer = setTimeout(tick, PACE);
  };
  const seen = new IntersectionObserver(
    ([{ isIntersecting, intersectionRatio, intersectionRect }]) => {
      const enough = Math.max(intersectionRatio, intersectionRect.height / innerHeight) >= MOST_OF;
      if (!isIntersecting || !enough) return;
      seen.disconnect();
      timer = setTimeout(begin, 2 * PACE);
    },
    { threshold: [0, 0.2, 0.4, MOST_OF, 0.8, 1] },
  );
  for (const hand of HANDS) addEventListener(hand, halt, true);
  addEventListener("load", () => seen.observe(figure));
})();
