// All that is wrong with each slide: what is cut off, what scrolls, what is too small to be read.
(LEAST) => [...document.querySelectorAll(".slides section")].map((section) => {
  const faults = [];
  const slide = section.getBoundingClientRect();
  const unit = slide.width / 1280;
  const own = (node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
  const over = (box, room) => Math.max(room.left - box.left, room.top - box.top,
    box.right - room.right, box.bottom - room.bottom);
  // letters have air above and below them
  const ink = ({ left, right, top, bottom }) =>
    ({ left, right, top: top + 0.22 * (bottom - top), bottom: bottom - 0.22 * (bottom - top) });
  const outside = (box, room) => box.right < room.left + 1 || box.left > room.right - 1 ||
    box.bottom < room.top + 1 || box.top > room.bottom - 1;

  /** What an element shows of what is in it. */
  function room(node) {
    if (!(node.tagName === "svg" && node.ownerSVGElement)) return node.getBoundingClientRect();
    const at = node.parentNode.getScreenCTM();
    const [x, y, width, height] = ["x", "y", "width", "height"].map((of) => node[of].baseVal.value);
    return new DOMRect(at.a * x + at.e, at.d * y + at.f, at.a * width, at.d * height);
  }

  /** What of a page can be seen at a node: the common part of all that cut it off. */
  function seen(node, page) {
    const clip = { left: -1e6, top: -1e6, right: 1e6, bottom: 1e6 };
    for (let one = node; one && one !== page; one = one.parentElement) {
      if (one.ownerSVGElement && one.tagName !== "svg") continue;
      const style = getComputedStyle(one);
      const { left, top, right, bottom } = room(one);
      if (style.overflowX !== "visible")
        [clip.left, clip.right] = [Math.max(clip.left, left), Math.min(clip.right, right)];
      if (style.overflowY !== "visible")
        [clip.top, clip.bottom] = [Math.max(clip.top, top), Math.min(clip.bottom, bottom)];
    }
    return clip;
  }

  /** Look at all that stands in a page; `scale` is how much it is enlarged as a whole. */
  function look(page, edges, scale, inFrame) {
    const range = page.ownerDocument.createRange();
    for (const node of page.querySelectorAll("*")) {
      const shown = node.checkVisibility({ visibilityProperty: inFrame, opacityProperty: inFrame });
      if (!shown || node.closest("aside, script, style, option, mjx-container")) continue;
      const style = getComputedStyle(node);
      const scrolls = !node.namespaceURI.endsWith("svg") && !node.matches("input, select") &&
        node.clientWidth > 3 && (
          (style.overflowX !== "visible" && node.scrollWidth > node.clientWidth + 1) ||
          (style.overflowY !== "visible" && node.scrollHeight > node.clientHeight + 1));
      if (scrolls) faults.push(`${node.tagName}.${node.className} has more than it shows`);
      if (node.tagName === "CANVAS") written(node, scale);
      if (own(node)) letters(node, style, page, edges, scale, inFrame, range);
    }
  }

  function letters(node, style, page, edges, scale, inFrame, range) {
    const clip = seen(node, page);
    if (clip.right - clip.left < 3) return; // for ears alone
    const svg = node.closest("svg");
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter(({ width }) => width > 0).map(ink)
      .filter((box) => !(svg?.matches(".half") && outside(box, clip)));
    if (boxes.length === 0) return;
    const text = node.textContent.trim().slice(0, 30);
    if (boxes.some((box) => over(box, clip) > 1.5)) faults.push(`${text}: cut off`);
    if (boxes.some((box) => over(box, edges) > 1.5)) faults.push(`${text}: outside`);
    const size = parseFloat(style.fontSize);
    const above = parseFloat(getComputedStyle(node.parentElement).fontSize);
    if (node.closest("sub, sup") || (node.tagName === "tspan" && size < above)) return;
    const drawn = svg?.getScreenCTM().a;
    const enlarged = svg ? drawn * (inFrame ? scale : 1) : scale * node.currentCSSZoom;
    const kind = svg || inFrame ? "rest" : node.closest("pre, .listing") ? "code" : "words";
    const whole = node.tagName === "CODE" && kind === "words" ? size / 0.86 : size;
    const real = (whole * enlarged) / unit;
    if (real < LEAST[kind] - 0.05) faults.push(`${text}: ${real.toFixed(1)} px`);
  }

  function written(canvas, scale) {
    const dense = canvas.getBoundingClientRect().height / canvas.height;
    for (const { text, size, xs, ys } of canvas.written ?? []) {
      const real = (size * dense * scale) / unit;
      if (real < LEAST.rest - 0.05) faults.push(`${text}, drawn: ${real.toFixed(1)} px`);
      const beyond = Math.max(-Math.min(...xs), -Math.min(...ys),
        Math.max(...xs) - canvas.width, Math.max(...ys) - canvas.height);
      if (beyond * dense > 1.5) faults.push(`${text}, drawn: cut off`);
    }
  }

  look(section, slide, unit, false);
  const parts = [...section.querySelectorAll("h2, .head, .words, .shown, .where")];
  for (const one of parts) if (over(one.getBoundingClientRect(), slide) > 1)
    faults.push(`${one.className || "title"} is outside`);
  for (const [at, one] of parts.entries()) for (const other of parts.slice(at + 1)) {
    const [a, b] = [one, other].map((part) => part.getBoundingClientRect());
    const lies = Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    if (lies && !section.matches(".side"))
      faults.push(`${one.className || "title"} lies on ${other.className}`);
  }
  const frame = section.querySelector("iframe");
  if (frame) {
    const page = frame.contentDocument.documentElement;
    const edges = { left: 0, top: 0, right: page.clientWidth, bottom: page.clientHeight };
    if (page.scrollHeight > page.clientHeight + 1) faults.push("a live picture scrolls");
    if (page.scrollWidth > page.clientWidth + 1) faults.push("a live picture is too wide");
    look(frame.contentDocument.body, edges, frame.dataset.zoom * unit, true);
  }
  for (const picture of section.querySelectorAll("img, .rows image")) {
    const { naturalWidth: wide, naturalHeight: high, clientWidth, clientHeight } = picture;
    const scale = picture.matches("img") ? Math.min(clientWidth / wide, clientHeight / high)
      : picture.getScreenCTM().a / unit;
    if (wide < 100) faults.push("a picture is not there");
    const chart = /^(Line|Dot) chart/.test(picture.alt ?? ""); // with letters and dots of its own
    const letter = (chart ? LEAST.chart : LEAST.inch) * scale; // of as many dots at its own size
    if (letter < LEAST.rest - 0.05) faults.push(`a picture's letters: ${letter.toFixed(1)} px`);
  }
  return faults;
})
