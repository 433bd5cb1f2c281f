// The online softmax of one query: keys come a tile at a time, and m, ℓ and o alone are kept.

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
  grid as tableOf,
  tick,
} from "../core/view/dom.js";
import { stepper } from "../core/view/stepper.js";
import { plain } from "../core/view/text.js";
import { seen, tiles, whole } from "./maths.js";

const data = ["initial"];
const state = ["scores", "values", "tile", "step", "factor"];

const MOST = { score: 1000, value: 1e6 };
const short = (value) => plain(value, 4);

function build(store) {
  /** @type {any} */
  const view = { store, alert: alertLine(), status: statusLine() };
  const last = () => tiles(store.get("scores").length, store.get("tile"));
  const at = () => Math.min(store.get("step"), last());
  const go = (step) => store.set({ step });
  const told = () => `${at()} of ${last()} tiles seen`;
  view.along = stepper({ what: "tiles", at, last, go, told });
  view.parts = [settings(view), keys(view), view.along, kept(view)];
  const [top, given, steps, running] = nodes(view.parts);
  const beside = el("div", "beside", given, el("div", {}, steps, running));
  view.node = el("div", {}, top, view.alert.node, beside, view.status);
  view.draw = () => {
    const [scores, values, tile, , factor] = state.map((name) => store.get(name));
    const all = seen({ scores, values, tile, factor });
    const now = { scores, values, tile, factor, all, step: at(), y: whole(scores, values) };
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
    "aria-label": "keys in a tile",
    oninput: () => {
      const tile = Number(slider.value);
      store.set({ tile, step: Math.min(store.get("step"), tiles(keys, tile)) });
    },
  });
  const value = el("span", "value");
  const factor = tick("multiply by the factor", (on) => store.set({ factor: on }));
  const node = el(
    "div",
    "controls",
    el("div", "slide", el("span", { "aria-hidden": "true" }, "keys in a tile"), slider, value),
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

/** One row a key: score and value, editable, and what it counts beside the present maximum. */
function keys(view) {
  const heads = ["key", "score e", "value v", "2^(e − m)"].map((name) => el("th", { scope: "col" }, name));
  const rows = times(view.store.get("scores").length, (j) => row(view, j));
  const node = scroller("Scores and values", tableOf(heads, nodes(rows)));
  return { node, show: (now) => rows.forEach((line) => line.show(now)) };
}

function row({ store, alert }, j) {
  const boxes = [
    ["score", "scores"],
    ["value", "values"],
  ].map(([name, trait]) =>
    numberBox({
      label: `${name} of key ${j + 1}`,
      most: MOST[name],
      change: (value) => store.set({ [trait]: replaced(store.get(trait), j, value) }),
      tell: alert.tell,
    }),
  );
  const counts = el("td");
  const head = el("th", { scope: "row" }, String(j + 1));
  const cells = boxes.map((box) => el("td", "component", box.node));
  const node = el("tr", {}, head, cells, counts);
  const show = ({ scores, values, tile, step, all }) => {
    [scores[j], values[j]].forEach((value, c) => boxes[c].show(value));
    const place = Math.floor(j / tile); // of its tile
    mark(node, "now", place === step - 1);
    mark(node, "later", place >= step);
    setText(counts, place < step ? short(2 ** (scores[j] - all[step - 1].maximum)) : "");
  };
  return { node, show };
}

const KEPT = ["keys seen", "m", "factor", "ℓ", "o", "o / ℓ"];

/** What was kept after each tile that has been seen. */
function kept(view) {
  const heads = KEPT.map((name) => el("th", { scope: "col" }, name));
  const lines = times(view.store.get("scores").length, () => {
    const [first, ...cells] = [el("th", { scope: "row" }), ...times(KEPT.length - 1, () => el("td"))];
    return { node: el("tr", {}, first, cells), cells: [first, ...cells] };
  });
  const node = scroller("What is kept", tableOf(heads, nodes(lines)));
  const show = (now) =>
    lines.forEach(({ node: line, cells }, place) => {
      line.hidden = place >= now.step;
      const texts = line.hidden ? KEPT.map(() => "") : keptAfter(place, now);
      texts.forEach((text, c) => setText(cells[c], text));
    });
  return { node, show };
}

function keptAfter(place, { scores, tile, factor, all }) {
  const { maximum, factor: shrunk, total, output } = all[place];
  const last = Math.min((place + 1) * tile, scores.length);
  const used = place === 0 || !factor ? "–" : short(shrunk);
  return [String(last), short(maximum), used, short(total), short(output), short(output / total)];
}

function said({ scores, tile, factor, all, step, y }) {
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
  return `${came}${grew} y = o / ℓ = ${result}; ${wanted}.`;
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Softmax, tile by tile", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
