// Previews are shown by the style alone. Here they find a place where all of them can be seen, go
// away with Escape, show a still drawing, and leave the margin where a note would open a gap.
(() => {
  const BOX = ".attnbook-preview, .attnbook-term";
  const EDGE = 8;
  const GAP = 48; // how much white may stand between a text and what begins below its notes
  let open = null;

  const said = (box) => box.querySelector(":scope > [role=tooltip]");
  const aside = (tip) => getComputedStyle(tip).float !== "none";

  /** The still drawing of a figure on this page, small, once. */
  const draw = (box, tip) => {
    const place = box.querySelector("a.attnbook-ref")?.getAttribute("href");
    if (!place?.startsWith("#picture-") || tip.querySelector("svg")) return;
    const svg = document.querySelector(`${CSS.escape(place).replace("\\#", "#")} .attnbook-drawing svg`);
    if (!svg || svg.closest("figure")) return;
    const copy = svg.cloneNode(true);
    const own = `${tip.id}-`;
    for (const one of [copy, ...copy.querySelectorAll("*")]) {
      for (const { name, value } of [...one.attributes]) {
        if (name === "id") one.id = own + value;
        else if (/^(xlink:)?href$/.test(name)) one.setAttribute(name, value.replace(/^#/, `#${own}`));
        else one.setAttribute(name, value.replace(/url\((['"]?)#/g, `url($1#${own}`));
      }
    }
    const frame = document.createElement("span");
    frame.className = "attnbook attnbook-drawing";
    frame.setAttribute("aria-hidden", "true"); // what it shows, the caption says
    frame.style.display = "block";
    frame.append(copy);
    tip.prepend(frame);
  };

  /** Below the line or, where there is no room, above it; at no edge cut off. */
  const place = (box) => {
    const tip = said(box);
    tip.removeAttribute("style");
    if (aside(tip) || getComputedStyle(tip).display === "none") return;
    Object.assign(tip.style, { position: "fixed", inset: "0 auto auto 0" });
    const lines = box.querySelector("a, strong").getClientRects();
    const [first, last] = [lines[0], lines[lines.length - 1]];
    const from = tip.getBoundingClientRect(); // not (0, 0) where an ancestor contains what is fixed
    const { clientWidth, clientHeight } = document.documentElement;
    const x = Math.max(EDGE, Math.min(last.left, clientWidth - from.width - EDGE));
    const fits = last.bottom + from.height + EDGE <= clientHeight || first.top < from.height + EDGE;
    const y = fits ? last.bottom : first.top - from.height;
    Object.assign(tip.style, { left: `${x - from.left}px`, top: `${y - from.top}px` });
  };

  const show = ({ target }) => {
    const box = target.closest?.(BOX);
    if (!box || box === open) return;
    open?.classList.remove("is-closed");
    open = box;
    draw(box, said(box));
    place(box);
  };
  const hide = ({ relatedTarget }) => {
    if (!open || open.contains(relatedTarget) || open.matches(":focus-within")) return;
    open.classList.remove("is-closed");
    open = null;
  };
  document.addEventListener("pointerover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("pointerout", hide);
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    const box = target.closest?.(BOX);
    if (box && !box.contains(relatedTarget)) box.classList.remove("is-closed");
    if (box === open) open = null;
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") open?.classList.add("is-closed");
  });
  document.addEventListener("click", ({ target }) => {
    if (target.closest(BOX)?.contains(open)) open?.classList.add("is-closed"); // one is on one's way
  });
  document.addEventListener("scroll", () => open && place(open), { capture: true, passive: true });

  /** Take the last notes before a wide block out of the margin while they push it far down. */
  const settle = () => {
    const notes = [...document.querySelectorAll(".book-note")];
    for (const note of notes) note.classList.remove("is-inline");
    const beside = notes.filter((note) => aside(said(note)));
    if (beside.length === 0) return;
    for (const block of document.querySelectorAll(".bd-article section > :not(p, ul, ol, section)")) {
      if (getComputedStyle(block).clear !== "right") continue;
      const before = block.previousElementSibling;
      if (!before) continue;
      const bottom = (box) => box.getBoundingClientRect().bottom;
      const above = beside.filter((note) => block.compareDocumentPosition(note) & Node.DOCUMENT_POSITION_PRECEDING);
      while (block.getBoundingClientRect().top - bottom(before) > GAP) {
        const last = above.pop();
        if (!last || bottom(said(last)) <= bottom(before)) break; // the white has another reason
        last.classList.add("is-inline");
      }
    }
  };
  let width = 0;
  const resettle = () => {
    if (open) place(open);
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    settle();
  };
  window.addEventListener("load", () => document.fonts.ready.then(resettle));
  window.addEventListener("resize", resettle);
})();
