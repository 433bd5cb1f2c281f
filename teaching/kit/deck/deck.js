// Opens a deck: reveal.js, the formulae, and sizes that fit each slide.
(() => {
  const root = document.documentElement;
  const sections = [...document.querySelectorAll(".slides > section")];
  const frames = [...document.querySelectorAll("iframe")];
  // the most and the least that the parts of a slide of 1280 × 720 may measure
  const FIRST = { title: 52, words: 40, code: 40, formula: 60 };
  const LEAST = { title: 36, words: 28, code: 20, formula: 28 };
  const ALONE = 54; // words on a slide that shows nothing
  const WIDTHS = [500, 560, 620, 680, 740, 790, 837]; // of a live picture before it is enlarged
  const DRAWN = [0.857, 0.79, 0.735, 0.7]; // how much smaller a drawing of boxes is, its letters not
  // at `good` its letters of 12 px are 18; what grows in use may get smaller ones, and scrolls at `used`
  const ZOOM = { good: 1.5, most: 2.4, used: 1.2 };
  const paper = new URLSearchParams(location.search).has("print-pdf");
  // where its controls stand: above it; at its side, under the words; above it, the words aside
  const LAYOUTS = ["", "side", "beside"];
  const ASIDE = ".attnbook-live > :first-child:is(.attnbook-controls, :has(> .attnbook-controls))";

  /** The parts that a slide need not have: the boxes of each. */
  const parts = (section) => ({
    code: [...section.querySelectorAll("pre, .listing")],
    formula: [...section.querySelectorAll(".shown > .tex")],
  });

  /** Which part of a slide is too wide for it. */
  function wide({ code, formula }) {
    if (code.some((one) => one.scrollWidth > one.clientWidth + 1)) return "code";
    return formula.some((one) => one.offsetWidth > one.parentElement.clientWidth) ? "formula" : null;
  }

  /** Whether something stands below its room, or beside the slide. */
  function tooMuch(section) {
    const end = section.clientHeight - parseFloat(getComputedStyle(section).paddingBottom) + 1;
    const inside = [...section.querySelectorAll(":scope > :not(.where, aside)")];
    if (inside.some((one) => one.offsetTop + one.offsetHeight > end)) return true;
    return section.scrollWidth > section.clientWidth + 1;
  }

  /** Make the parts of a slide smaller until they fit. */
  function fit(section) {
    const size = { ...FIRST };
    if (section.matches(".words")) size.words = ALONE;
    if (section.matches(".live")) size.words = 32;
    if (section.matches(".live, .beside")) size.title = 44;
    const set = () => {
      for (const name of Object.keys(size)) section.style.setProperty(`--${name}`, `${size[name]}px`);
    };
    const own = parts(section);
    const there = Object.keys(size).filter((name) => !(name in own) || own[name].length > 0);
    const may = (name) => size[name] > LEAST[name];
    for (set(); wide(own) || tooMuch(section); set()) {
      // the largest first, so that the parts stay in proportion; a title stays above the rest
      const rank = (part) => size[part] - (part === "title" ? 14 : 0);
      const order = there.filter(may).sort((one, other) => rank(other) - rank(one));
      const name = wide(own) ?? order[0];
      if (name && may(name)) size[name] -= 1;
      else if (!section.matches(".tight")) section.classList.add("tight");
      else if (order.length > 0) size[order[0]] -= 1;
      else break;
    }
  }

  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

  const scrolls = (part) => part.scrollWidth > part.clientWidth + 1;

  /** How high a live picture is, with what stands at its side. */
  const height = (figure) =>
    2 + figure.getBoundingClientRect().top + Math.max(figure.offsetHeight, figure.scrollHeight);

  /** Give the letters of its drawings, each of which has its own scale, 18 px on the slide. */
  function letter(figure, zoom) {
    for (const svg of figure.querySelectorAll("svg:has(text)")) {
      svg.style.setProperty("--letter", 18 / zoom / (svg.getScreenCTM()?.a || 1));
    }
  }

  /** Give a live picture the layout and the width at which its letters are the largest. */
  async function enlarge(one) {
    const page = one.contentDocument;
    const figure = page?.querySelector("figure");
    const [place, section] = [one.parentElement, one.closest("section")];
    if (!figure || !place.clientWidth) return;
    page.documentElement.dataset.theme = root.dataset.theme;
    one.dataset.fitting = "";
    const lay = (layout, small) => {
      for (const name of LAYOUTS.filter(Boolean)) section.classList.toggle(name, name === layout);
      section.classList.toggle("beside", layout !== "");
      page.body.dataset.layout = layout;
      page.body.style.setProperty("--drawn", small);
      one.style.width = "0";
      fit(section);
    };
    const zoomAt = async (width) => {
      one.style.width = `${width}px`;
      one.style.height = "2000px";
      const words = [...section.querySelectorAll(":scope > :is(h2, .words)")].at(-1);
      page.body.style.setProperty("--below", `${(words.offsetTop + words.offsetHeight) / ZOOM.good}px`);
      await frame();
      letter(figure, ZOOM.good);
      const inside = figure.querySelectorAll(".attnbook-drawing, .attnbook-scroll, .attnbook-plot");
      if ([page.documentElement, ...inside].some(scrolls)) return 0;
      return Math.min(ZOOM.most, place.clientWidth / width, place.clientHeight / height(figure));
    };
    let best = { zoom: 0 };
    const drawn = figure.matches(".attnbook-dataflow");
    const layouts = LAYOUTS.filter((one) => one !== "side" || figure.querySelector(ASIDE));
    const tries = (drawn ? DRAWN : [1]).flatMap((small) => layouts.map((layout) => [layout, small]));
    for (const [layout, small] of tries) {
      if (best.zoom >= ZOOM.good) break;
      lay(layout, small);
      const widths = layout === "side" ? WIDTHS.slice(-3) : WIDTHS.slice(drawn ? -4 : 0);
      for (const width of [...widths, Math.floor(place.clientWidth / ZOOM.good)]) {
        const zoom = await zoomAt(width);
        if (zoom > best.zoom + 0.01) best = { zoom, width, layout, small };
      }
    }
    lay(best.layout, best.small);
    await zoomAt(best.width);
    put(one, best.zoom);
    delete one.dataset.fitting;
    new one.contentWindow.ResizeObserver(() => {
      const needed = Math.max(place.clientHeight / height(figure), ZOOM.used);
      if (needed < Number(one.dataset.zoom) - 0.005) put(one, needed);
    }).observe(figure);
  }

  function put(one, zoom) {
    const place = one.parentElement;
    one.dataset.zoom = zoom;
    one.style.height = `${place.clientHeight / zoom}px`;
    letter(one.contentDocument.querySelector("figure"), zoom);
    one.style.transform = `${one.closest(".side") ? "" : "translateX(-50%) "}scale(${zoom})`;
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
    const each = async (one) => {
      await loaded(one);
      listen(one); // some were there before this script was
      await enlarge(one);
    };
    await Promise.all(frames.map(each));
    root.dataset.ready = "";
  }
  lay();
})();
