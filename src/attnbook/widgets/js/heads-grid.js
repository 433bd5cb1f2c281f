// The small maps of all heads, and the look that tells one head from another.

import { el, setText } from "./dom.js";
import { headWords } from "./heads-words.js";

const MOST = 6; // heads compared at once: more colours nobody tells apart
const COLOURS = 6;
const PATTERNS = ["solid", "hollow", "striped"];

/** A head's colour, and for those that share it a pattern; its name always stands beside it. */
export const look = (h) => ({
  colour: `head-${h % COLOURS}`,
  pattern: PATTERNS[Math.floor(h / COLOURS) % PATTERNS.length],
});

/** Every head as a small map that a click enlarges, and a box that chooses it. */
export function grid(view) {
  const items = view.heads.map((_, h) => item(view, h));
  const [, nQ, nK] = view.store.get("shape");
  const node = el("div", {
    class: "attnbook-grid", role: "group",
    "aria-label": "heads; arrow keys move between them, Enter or Space chooses one",
    onkeydown: (event) => press(view, event, items),
    // a browser would make a click of the space bar's way up
    onkeyup: (event) => event.key === " " && onMap(event.target) && event.preventDefault(),
  }, items.map((each) => each.node));
  node.style.setProperty("--shape", `${nK} / ${nQ}`);
  node.style.setProperty("--least", items.length > 6 ? "6.4em" : "8.6em");
  const show = () => {
    const row = view.store.get("row");
    node.classList.toggle("attnbook-pinned", row !== null);
    node.style.setProperty("--row", `${(100 * (row ?? 0)) / nQ}%`);
    node.style.setProperty("--high", `${100 / nQ}%`);
    items.forEach((each) => each.show());
  };
  return { node, show };
}

const onMap = (target) => target.classList.contains("attnbook-map");

function item(view, h) {
  const { store } = view;
  const { colour, pattern } = look(h);
  const map = el("button", {
    type: "button", class: "attnbook-map", "aria-label": `enlarge ${view.names[h]}`,
    onclick: () => store.set({ head: h, large: "one" }),
  }, view.heads[h].canvas);
  const box = el("input", { type: "checkbox", tabindex: "-1", onchange: () => toggle(view, h) });
  const words = el("p", {});
  const node = el("div", { class: "attnbook-item", "data-pattern": pattern },
    map, el("label", {}, box, el("span", { class: "attnbook-token" }, view.names[h])), words);
  node.style.setProperty("--c", `var(--attnbook-${colour})`);
  const show = () => {
    const chosen = store.get("chosen").includes(h);
    node.classList.toggle("attnbook-on", chosen);
    box.checked = chosen;
    const alone = store.get("large") === "one" && store.get("head") === h;
    map.setAttribute("aria-pressed", String(alone));
    // one stop for the tab key: the arrows do the rest
    map.tabIndex = store.get("head") === h ? 0 : -1;
    setText(words, headWords(view, h));
  };
  return { node, map, show };
}

/** Choose a head or let it go. */
function toggle(view, h) {
  const { store } = view;
  const before = store.get("chosen");
  const chosen = before.includes(h) ? before.filter((other) => other !== h)
    : [...before, h].sort((a, b) => a - b);
  const many = chosen.length > MOST;
  view.settings.complain(many ? `At most ${MOST} heads are compared: let one go first.` : "");
  if (many) return void view.redraw(); // the box was ticked by the browser already
  store.set({ chosen, head: h, large: store.get("large") === "average" ? "average" : "chosen" });
}

function press(view, event, items) {
  if (event.altKey || event.ctrlKey || event.metaKey || !onMap(event.target)) return;
  const h = items.findIndex(({ map }) => map === event.target);
  const top = items[0].node.offsetTop;
  const columns = items.filter(({ node }) => node.offsetTop === top).length;
  const to = {
    ArrowLeft: h - 1, ArrowRight: h + 1, ArrowUp: h - columns, ArrowDown: h + columns,
    Home: 0, End: items.length - 1,
  }[event.key];
  if (event.key === "Enter" || event.key === " ") toggle(view, h);
  else if (to === undefined) return;
  else if (items[to]) move(view, items[to].map, to);
  event.preventDefault();
  event.stopPropagation();
}

function move({ store }, map, h) {
  store.set({ head: h, large: store.get("large") === "average" ? "average" : "one" });
  map.focus();
}

/** What draws several heads into one map: in each cell a bar for each, in their order. */
export function barsFill(view, heads) {
  return (pen, at, palette) => {
    const { nQ, nK } = heads[0];
    const { cell, left, top } = at;
    const side = cell > 12 ? Math.round(cell * 0.12) : 0;
    const wide = (cell - 2 * side) / heads.length;
    const gap = wide > 4 ? 1 : 0;
    pen.rect(left, top, cell * nK, cell * nQ, palette.paper);
    heads.forEach((head, place) => {
      const paint = painter(pen, palette, look(view.heads.indexOf(head)));
      for (let n = 0; n < nQ * nK; n++) {
        const high = head.weights[n] * (cell - 2);
        if (high < 0.5) continue;
        const x = left + (n % nK) * cell + side + place * wide;
        const y = top + (Math.floor(n / nK) + 1) * cell - 1 - high;
        paint(x, y, wide - gap, high);
      }
    });
    view.may.forEach((may, n) => {
      if (may) return;
      const y = top + Math.floor(n / nK) * cell;
      pen.rect(left + (n % nK) * cell, y, cell, cell, palette.masked);
    });
  };
}

function painter(pen, palette, { colour, pattern }) {
  const ink = palette[colour];
  if (pattern === "hollow") {
    return (x, y, wide, high) => pen.frame(x + 0.75, y + 0.75, Math.max(0.5, wide - 1.5),
      Math.max(0.5, high - 1.5), ink, 1.5);
  }
  return (x, y, wide, high) => {
    pen.rect(x, y, wide, high, ink);
    if (pattern !== "striped") return;
    for (let line = y + high - 3; line > y; line -= 4) pen.line(x, line, x + wide, line, palette.paper);
  };
}
