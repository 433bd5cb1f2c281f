// Opens a deck: reveal.js, the formulae, and sizes that fit each slide.
(() => {
  const root = document.documentElement;
  const sections = [...document.querySelectorAll(".slides > section")];
  const frames = [...document.querySelectorAll("iframe")];
  // the most and the least that words and code may measure on a slide of 1280 × 720
  const LEAST = { words: 28, code: 20 };
  const FIRST = { words: 40, code: 40 };
  const ALONE = 54; // words on a slide that shows nothing
  const WIDTHS = [440, 540, 660, 800, 1000, 1180]; // of a live picture before it is enlarged
  const paper = new URLSearchParams(location.search).has("print-pdf");
  // how much it is enlarged: what is too tall even so scrolls in its place, but on paper it cannot
  const ZOOM = { least: paper ? 0.2 : 1.25, most: 2.6 };

  const codes = (section) => [...section.querySelectorAll("pre, .listing")];
  const tooWide = (section) => codes(section).some((one) => one.scrollWidth > one.clientWidth + 1);
  const tooMuch = (section) =>
    section.scrollHeight > section.clientHeight + 1 || section.scrollWidth > section.clientWidth + 1;

  /** Make words and code of a slide smaller until they fit. */
  function fit(section) {
    const size = { ...FIRST };
    if (section.matches(".words")) size.words = ALONE;
    if (section.matches(".live")) size.words = 32;
    const set = () => {
      for (const name of Object.keys(size)) section.style.setProperty(`--${name}`, `${size[name]}px`);
    };
    const may = (name) => size[name] > LEAST[name] && (name === "words" || codes(section).length > 0);
    for (set(); tooWide(section) || tooMuch(section); set()) {
      const name = tooWide(section) || size.code >= size.words ? "code" : "words";
      const one = [name, "words", "code"].find(may);
      if (!one) break;
      size[one] -= 1;
    }
  }

  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

  /** Give a live picture the width at which it fills its place with the largest letters. */
  async function enlarge(one) {
    const page = one.contentDocument;
    const figure = page?.querySelector("figure");
    const place = one.parentElement;
    if (!figure || !place.clientWidth) return;
    page.documentElement.dataset.theme = root.dataset.theme;
    one.dataset.fitting = "";
    const zoomAt = async (width) => {
      one.style.width = `${width}px`;
      one.style.height = "2000px";
      await frame();
      const box = figure.getBoundingClientRect();
      return Math.min(ZOOM.most, place.clientWidth / width, place.clientHeight / (box.height + 2));
    };
    let best = { zoom: 0, width: 0 };
    for (const width of WIDTHS) {
      const zoom = await zoomAt(width);
      if (zoom > best.zoom + 0.01) best = { zoom, width };
    }
    if (best.zoom < ZOOM.least) {
      best = { zoom: ZOOM.least, width: Math.floor(place.clientWidth / ZOOM.least) };
    }
    await zoomAt(best.width);
    put(one, best.zoom, best.width);
    delete one.dataset.fitting;
    // what grows while it is used gets smaller letters, and nothing is cut off
    new one.contentWindow.ResizeObserver(() => {
      const whole = place.clientHeight / (figure.getBoundingClientRect().height + 2);
      const needed = Math.max(whole, ZOOM.least);
      if (needed < Number(one.dataset.zoom) - 0.005) put(one, needed, best.width);
    }).observe(figure);
  }

  function put(one, zoom, width) {
    const place = one.parentElement;
    one.dataset.zoom = zoom;
    one.style.height = `${place.clientHeight / zoom}px`;
    one.style.transform = `translateX(-50%) scale(${zoom})`;
  }

  /** Arrow keys belong to a live picture while it has the focus; Esc gives them back. */
  function listen(one) {
    one.contentDocument?.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      one.blur();
      window.focus();
    });
  }

  function turn(theme) {
    root.dataset.theme = theme;
    for (const one of frames) {
      if (one.contentDocument) one.contentDocument.documentElement.dataset.theme = theme;
    }
  }

  for (const one of frames) one.addEventListener("load", () => listen(one));

  /** A live picture's page is there; paper moves a slide, which loads its frame anew. */
  const loaded = (one) =>
    new Promise((done) => {
      const page = one.contentDocument;
      if (page?.readyState === "complete" && page.querySelector("figure")) done();
      else one.addEventListener("load", done, { once: true });
    });

  Reveal.initialize({
    width: 1280,
    height: 720,
    margin: 0,
    minScale: 0.1,
    maxScale: 6,
    center: false,
    display: "flex",
    hash: true,
    slideNumber: "c/t",
    transition: "none",
    backgroundTransition: "none",
    controlsTutorial: false,
    viewDistance: 1000, // all slides are laid out at once, so that each can be fitted
    mobileViewDistance: 1000,
    pdfMaxPagesPerSlide: 1,
    scrollActivationWidth: null,
    preloadIframes: false,
    keyboard: { 68: () => turn(root.dataset.theme === "dark" ? "light" : "dark") },
    plugins: [RevealNotes, RevealZoom],
  });

  const opened = new Promise((done) => {
    Reveal.on(paper ? "pdf-ready" : "ready", done);
  });

  async function lay() {
    await Promise.all([opened, document.fonts.ready, MathJax.startup.promise]);
    await MathJax.typesetPromise();
    await frame();
    sections.forEach(fit);
    for (const one of frames) {
      await loaded(one);
      await enlarge(one);
    }
    root.dataset.ready = "";
  }
  lay();
})();
