// The small maps of all heads, and the look that tells one head from another.

import { el, mark, nodes, onKeys, pressed, setText, setVar } from "../core/view/dom.js";
import { eachCell } from "../core/view/picture.js";
import { visible } from "../core/view/text.js";
import { headWords } from "./words.js";

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
  const node = el(
    "div",
    {
      class: "grid",
      role: "group",
      "aria-label": "heads; arrow keys move between them, Enter or Space chooses one",
      onkeydown: onKeys((event) => press(view, event, items)),
      // a browser would make a click of the space bar's way up
      onkeyup: (event) => event.key === " " && onMap(event.target) && event.preventDefault(),
    },
    nodes(items),
  );
  setVar(node, "shape", `${nK} / ${nQ}`);
  mark(node, "folded", view.store.get("folded"));
  setVar(node, "least", items.length > 6 ? "6.4em" : "8.6em");
  const show = () => {
    const row = view.store.get("row");
    mark(node, "pinned", row !== null);
    setVar(node, "row", `${(100 * (row ?? 0)) / nQ}%`);
    setVar(node, "high", `${100 / nQ}%`);
    items.forEach((each) => each.show());
  };
  return { node, show };
}

const onMap = (target) => target.classList.contains("attnbook-map");

function item(view, h) {
  const { store } = view;
  const { colour, pattern } = look(h);
  const map = el(
    "button",
    {
      type: "button",
      class: "map",
      "aria-label": `enlarge ${view.names[h]}`,
      onclick: () => {
        if (view.fold) view.fold.open = true;
        store.set({ head: h, large: "one" });
      },
    },
    view.heads[h].canvas,
  );
  const box = el("input", { type: "checkbox", tabindex: "-1", onchange: () => toggle(view, h) });
  const words = el("p");
  const node = el(
    "div",
    { class: "item", "data-pattern": pattern },
    store.get("folded") ? labelled(view, map) : map,
    el("label", {}, box, el("span", "token", view.names[h])),
    words,
  );
  setVar(node, "c", `var(--attnbook-${colour})`);
  const show = () => {
    const chosen = store.get("chosen").includes(h);
    mark(node, "on", chosen);
    box.checked = chosen;
    const alone = store.get("large") === "one" && store.get("head") === h;
    pressed(map, alone);
    // one stop for the tab key: the arrows do the rest
    map.tabIndex = store.get("head") === h ? 0 : -1;
    setText(words, headWords(view, h));
  };
  return { node, map, show };
}

/** A small map that stands alone: its keys above it, its queries on the left. */
function labelled({ keyTokens, tokens }, map) {
  const strip = (texts) => texts.map((text) => el("span", {}, visible(text)));
  return el(
    "div",
    "named",
    el("div", { class: "keys", "aria-hidden": "true" }, strip(keyTokens)),
    el("div", { class: "queries", "aria-hidden": "true" }, strip(tokens)),
    map,
  );
}

/** Choose a head or let it go. */
function toggle(view, h) {
  const { store } = view;
  const before = store.get("chosen");
  const chosen = before.includes(h) ? before.filter((other) => other !== h) : [...before, h].sort((a, b) => a - b);
  const many = chosen.length > MOST;
  view.alert.tell(many ? `At most ${MOST} heads are compared: let one go first.` : "");
  if (many) return void view.redraw(); // the box was ticked by the browser already
  store.set({ chosen, head: h, large: store.get("large") === "average" ? "average" : "chosen" });
}

function press(view, event, items) {
  if (!onMap(event.target)) return false;
  const h = items.findIndex(({ map }) => map === event.target);
  const top = items[0].node.offsetTop;
  const columns = items.filter(({ node }) => node.offsetTop === top).length;
  const to = {
    ArrowLeft: h - 1,
    ArrowRight: h + 1,
    ArrowUp: h - columns,
    ArrowDown: h + columns,
    Home: 0,
    End: items.length - 1,
  }[event.key];
  if (event.key === "Enter" || event.key === " ") toggle(view, h);
  else if (to === undefined) return false;
  else if (items[to]) move(view, items[to].map, to);
  return true;
}

function move({ store }, map, h) {
  store.set({ head: h, large: store.get("large") === "average" ? "average" : "one" });
  map.focus();
}

/** What draws several heads into one map: in each cell a bar for each, in their order. */
export function barsFill(view, heads) {
  return (pen, at, palette) => {
    const { cell } = at;
    const side = cell > 12 ? Math.round(cell * 0.12) : 0;
    const wide = (cell - 2 * side) / heads.length;
    const gap = wide > 4 ? 1 : 0;
    const paints = heads.map((head) => painter(pen, palette, look(view.heads.indexOf(head))));
    eachCell(heads[0], at, (n, x, y) => {
      if (!view.may[n]) pen.rect(x, y, cell, cell, palette.masked);
      heads.forEach(({ weights }, place) => {
        const high = weights[n] * (cell - 2);
        if (high < 0.5) return;
        paints[place](x + side + place * wide, y + cell - 1 - high, wide - gap, high);
      });
    });
  };
}

function painter(pen, palette, { colour, pattern }) {
  const ink = palette[colour];
  if (pattern === "hollow") {
    return (x, y, wide, high) =>
      pen.frame(x + 0.75, y + 0.75, Math.max(0.5, wide - 1.5), Math.max(0.5, high - 1.5), ink, 1.5);
  }
  return (x, y, wide, high) => {
    pen.rect(x, y, wide, high, ink);
    if (pattern !== "striped") return;
    for (let line = y + high - 3; line > y; line -= 4) pen.line(x, line, x + wide, line, palette.paper);
  };
}
