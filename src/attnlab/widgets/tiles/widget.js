// The online softmax: a tile sweeps the n × n scores, which are nowhere stored; of each query m, ℓ
// and o alone are kept, and of the first one they are shown.

import { replaced, times } from "../core/maths/lists.js";
import {
  alertLine,
  el,
  mark,
  nodes,
  numberBox,
  reset,
  scroller,
  setText,
  statusLine,
  svg,
  table,
  tick,
} from "../core/view/dom.js";
import { stepper } from "../core/view/stepper.js";
import { plain } from "../core/view/text.js";
import { seen, sweep, tiles, whole } from "./maths.js";

const data = ["initial"];
const state = ["scores", "values", "tile", "step", "factor"];

const MOST = { score: 1000, value: 1e6 };
const short = (value) => plain(value, 4);

function build(store) {
  /** @type {any} */
  const view = { store, alert: alertLine(), status: statusLine() };
  const many = () => tiles(store.get("scores").length, store.get("tile"));
  const last = () => many() ** 2;
  const at = () => Math.min(store.get("step"), last());
  const go = (step) => store.set({ step });
  const told = () => `${at()} of ${last()} tiles seen`;
  view.along = stepper({ what: "tiles", at, last, go, told });
  view.parts = [settings(view), keys(view), view.along, kept(view), picture(), memories()];
  const [top, given, steps, running, swept, sizes] = nodes(view.parts);
  const above = el("div", "main", swept, el("div", "side", steps, sizes, view.status));
  view.node = el("div", {}, top, view.alert.node, above, el("div", "beside", given, running));
  view.draw = () => {
    const [scores, values, tile, , factor] = state.map((name) => store.get(name));
    const all = seen({ scores, values, tile, factor });
    const n = scores.length;
    const step = Math.min(at(), many()); // of the first query
    const y = whole(scores, values);
    const now = { scores, values, tile, factor, all, step, y, n, at: at(), ...sweep(n, tile, at()) };
    view.parts.forEach((part) => part.show(now));
    setText(view.status, said(now));
  };
  return view;
}

function settings(view) {
  const { store } = view;
  const keys = store.get("scores").length;
  const slider = el("input", {
    type: "range",
    min: 1,
    max: keys,
    "aria-label": "side of a tile",
    oninput: () => {
      const tile = Number(slider.value);
      store.set({ tile, step: Math.min(store.get("step"), tiles(keys, tile) ** 2) });
    },
  });
  const value = el("span", "value");
  const factor = tick("multiply by the factor", (on) => store.set({ factor: on }));
  const node = el(
    "div",
    "controls",
    el("div", "slide", el("span", { "aria-hidden": "true" }, "side of a tile"), slider, value),
    factor.node,
    reset(view, "numbers"),
  );
  const show = (now) => {
    slider.value = now.tile;
    setText(value, String(now.tile));
    factor.show(now.factor);
  };
  return { node, show };
}

const box = (x, y, wide, high) => `M${x} ${y}h${wide}v${high}h${-wide}z`;

/** The grid that a tile sweeps: K and V above it, Q at its left, Y at its right. */
function picture() {
  const names = ["grid", "swept", "of-query", "of-key", "of-value", "of-output", "of-weight"];
  const paths = names.map((name) => svg("path", name));
  const words = [
    ["K", 7, 9],
    ["V", 7, 24],
    ["Q", 5, 36],
    ["Y", 155, 36],
  ];
  const letters = words.map(([name, x, y]) => svg("text", { x, y }, name));
  const node = svg("svg", { viewBox: "0 0 160 160", "aria-hidden": "true" }, paths, letters);
  const show = ({ n, at, query, key, queries, keys, written }) => {
    const side = 120 / n; // of a score
    const [x, y, wide, high] = [20 + key * side, 40 + query * side, keys * side, queries * side];
    const lines = times(n + 1, (j) => `M${20 + j * side} 40v120M20 ${40 + j * side}h120`);
    const strips = box(20, 0, 120, 10) + box(20, 15, 120, 10) + box(0, 40, 10, 120) + box(150, 40, 10, 120);
    const now = [
      box(20, 40, 120, y - 40) + box(20, y, x - 20, high),
      box(0, y, 10, high),
      box(x, 0, wide, 10),
      box(x, 15, wide, 10),
      box(150, 40, 10, written * side),
      box(x, y, wide, high),
    ];
    const shapes = [lines.join("") + strips, ...now];
    shapes.forEach((shape, each) => paths[each].setAttribute("d", at || !each ? shape : ""));
  };
  return { node, show };
}

/** What is in either memory, and how many numbers that are. */
function memories() {
  const lines = times(4, () => el("p"));
  const show = ({ n, at, all, queries: r, keys: c, fast, written, moved }) => {
    const inside = `Q ${r}, K ${c}, V ${c}, scores ${r} × ${c}, m, ℓ, o ${r} × 3: ${fast} numbers`;
    const texts = [
      `Fast memory: ${at ? inside : "nothing yet"}`,
      `Slow memory: Q, K, V, Y 4 × ${n}: ${4 * n} numbers; of Y ${at ? written : 0} are written`,
      `Never stored: ${n} × ${n} = ${n * n} scores`,
      `Moved in a whole sweep: Q, Y once, K, V × ${all.length}: ${moved} numbers`,
    ];
    texts.forEach((text, each) => setText(lines[each], text));
  };
  return { node: el("div", "memories", lines), show };
}

/** One row a key: score and value, editable, and what it counts beside the present maximum. */
function keys({ store, alert }) {
  const box = (name, trait, j) =>
    numberBox({
      label: `${name} of key ${j + 1}`,
      most: MOST[name],
      change: (value) => store.set({ [trait]: replaced(store.get(trait), j, value) }),
      tell: alert.tell,
    });
  const boxes = store.get("scores").map((_, j) => [box("score", "scores", j), box("value", "values", j)]);
  const rows = boxes.map((pair, j) => [String(j + 1), ...nodes(pair), ""]);
  const drawn = table(["key", "score e", "value v", "2^(e − m)"], rows);
  const show = ({ scores, values, tile, step, at, all }) =>
    boxes.forEach(([score, value], j) => {
      score.show(scores[j]);
      value.show(values[j]);
      const place = Math.floor(j / tile); // of its tile
      const line = drawn.rows[j + 1];
      mark(line, "now", place === at - 1);
      mark(line, "later", place >= step);
      setText(line.cells[3], place < step ? short(2 ** (scores[j] - all[step - 1].maximum)) : "");
    });
  return { node: scroller("Scores and values", drawn), show };
}

/** What was kept after each tile that has been seen. */
function kept({ store }) {
  const heads = ["keys seen", "m", "factor", "ℓ", "o", "o / ℓ"];
  const drawn = table(
    heads,
    store.get("scores").map(() => heads.map(() => "")),
  );
  const show = ({ scores, tile, factor, all, step }) =>
    scores.forEach((_, place) => {
      const line = drawn.rows[place + 1];
      line.hidden = place >= step;
      if (line.hidden) return;
      const { maximum, factor: shrunk, total, output } = all[place];
      const used = place && factor ? short(shrunk) : "–";
      const numbers = [total, output, output / total].map(short);
      const texts = [String(Math.min((place + 1) * tile, scores.length)), short(maximum), used, ...numbers];
      texts.forEach((text, c) => setText(line.cells[c], text));
    });
  return { node: scroller("What is kept", drawn), show };
}

function said({ scores, tile, factor, all, step, y, at }) {
  if (step === 0) return "No key has been seen yet.";
  const { maximum, factor: shrunk, total, output } = all[step - 1];
  const [first, last] = [(step - 1) * tile + 1, Math.min(step * tile, scores.length)];
  const came = first === last ? `Key ${first} came.` : `Keys ${first} to ${last} came.`;
  const kept = factor ? `counts ${short(shrunk)} of what it did` : "should shrink, and does not";
  const grew = step > 1 && shrunk < 1 ? ` m grew to ${short(maximum)}: what was summed ${kept}.` : "";
  const result = short(output / total);
  if (step < all.length) return `${came}${grew} So far o / ℓ = ${result}.`;
  const right = Math.abs(output / total - y) <= 1e-9 * Math.max(1, Math.abs(y));
  const wanted = right ? "the softmax of all scores at once gives the same" : `the softmax gives ${short(y)}`;
  if (at > step) return `Query 1 has y = ${result}; ${wanted}. The others go the same way.`;
  return `${came}${grew} y = o / ℓ = ${result}; ${wanted}.`;
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Softmax, tile by tile", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
