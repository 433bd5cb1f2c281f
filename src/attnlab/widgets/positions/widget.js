// Sinusoidal positions: the reader changes what they are made of and sees which of them are alike.

import { times } from "../core/maths/lists.js";
import { slide } from "../core/view/controls.js";
import { alertLine, choice, el, nodes, note, numberBox, reset, setText, together, twin } from "../core/view/dom.js";
import { drawn } from "../core/view/plot.js";
import { clocks } from "./clocks.js";
import { curve } from "./curve.js";
import { map } from "./map.js";
import { alike, encoded, speeds } from "./maths.js";
import { cosineRows, FORMULAS, formula, neighbours, pairRows, said, walked } from "./words.js";

const data = ["initial", "folded"];
const state = ["d", "n", "base", "formula", "position", "shift", "pair"];

const MOST = 64; // components, and positions
const FARTHEST = 63; // of a shift
const LARGEST = 6; // the base's logarithm

const NOTE = "Blue: above 0; orange: below. Frames: p thick, p + k thin, the chosen pair upright.";

function build(store) {
  const view = drawn({ store, near: null, alert: alertLine(), folded: store.get("folded") }, draw);
  view.parts = [
    settings(view),
    hands(view),
    formula(),
    map(view),
    curve(view),
    clocks(view.folded),
    neighbours(),
    tables(view),
  ];
  const [top, sliders, letters, plot, line, dials, table, tails] = nodes(view.parts);
  const half = el("div", "half", line, table);
  const all = view.folded
    ? [sliders, dials, view.status, fold(view, top, ...view.alert.node, letters, plot, half, note(NOTE), tails)]
    : [top, ...view.alert.node, letters, plot, sliders, view.status, el("div", "main", half, dials), note(NOTE), tails];
  view.node = el("div", {}, all);
  return view;
}

function fold(view, ...parts) {
  const summary = el("summary", {}, "the formula, all components, and how alike positions are");
  return el("details", { class: "twin", ontoggle: () => view.redraw() }, summary, parts);
}

/** Everything that follows from the state; a choice out of range waits for the other change. */
function worked(store) {
  const [d, n, base, name, position, k, chosen] = state.map((trait) => store.get(trait));
  const [p, pair] = [Math.min(position, n - 1), Math.min(chosen, d / 2 - 1)];
  const omega = speeds(d, base, name);
  const rowOf = (at) => encoded(at, omega);
  const rows = times(n, rowOf);
  return {
    d,
    n,
    base,
    formula: name,
    p,
    k,
    pair,
    later: p + k,
    omega,
    rowOf,
    rows,
    cosines: rows.map((row) => alike(row, rows[p])),
    own: times(n, (q) => Math.cos((q - p) * omega[pair])),
  };
}

function draw(view, width) {
  view.width = width;
  view.now = worked(view.store);
  view.parts.forEach((part) => part.show(view.now));
  setText(view.status, view.folded && !view.cursor ? walked(view.now) : said(view));
}

/** A box for a whole number; `put` says what a new one changes. */
function whole(view, { label, step, trait, put }) {
  const box = numberBox({
    label,
    least: 2,
    most: MOST,
    whole: true,
    step,
    tell: view.alert.tell,
    wanted: `${step > 1 ? "an even" : "a whole"} number from 2 to ${MOST}`,
    usable: (value) => value % step === 0,
    change: (value) => view.store.set({ [trait]: value, ...put(value) }),
  });
  const node = el("label", {}, el("span", { "aria-hidden": "true" }, label), box.node);
  return { node, show: (now) => box.show(now[trait]) };
}

function settings(view) {
  const { store } = view;
  const kind = choice("formula", ["pos / base^(2i/d)", "pos · base^(2i/d), a published error"], (place) =>
    store.set({ formula: FORMULAS[place] }),
  );
  const base = slide({
    store,
    tell: view.alert.tell,
    name: "base",
    min: 0,
    max: LARGEST,
    least: 1,
    most: 10 ** LARGEST,
    thousands: true, // 10,000 above all
    value: (place) => Number((10 ** place).toPrecision(3)),
    place: Math.log10,
  });
  const parts = [
    { node: kind.node, show: (now) => kind.show(FORMULAS.indexOf(now.formula)) },
    whole(view, {
      label: "components d",
      step: 2,
      trait: "d",
      put: (d) => ({ pair: Math.min(store.get("pair"), d / 2 - 1) }),
    }),
    whole(view, {
      label: "positions n",
      step: 1,
      trait: "n",
      put: (n) => ({ position: Math.min(store.get("position"), n - 1) }),
    }),
    base,
  ];
  return together(el("div", "controls", nodes(parts), reset(view, "settings")), parts);
}

/** What is looked at: a position, a shift and a pair, each by a slider of whole numbers. */
function hands({ store, folded }) {
  const hand = (label, trait, key, last) => {
    const slider = el("input", {
      type: "range",
      min: 0,
      "aria-label": label,
      oninput: () => store.set({ [trait]: Number(slider.value) }),
    });
    const told = el("span", "value");
    const show = (now) => {
      slider.max = last(now);
      slider.value = now[key];
      setText(told, String(now[key]));
    };
    return { node: el("div", "slide", el("span", { "aria-hidden": "true" }, label), slider, told), show };
  };
  const parts = [
    hand("position p", "position", "p", ({ n }) => n - 1),
    hand("shift k", "shift", "k", () => FARTHEST),
    ...(folded ? [] : [hand("pair i", "pair", "pair", ({ d }) => d / 2 - 1)]),
  ];
  return together(el("div", "controls hands", nodes(parts)), parts);
}

/** What is drawn, as two tables. */
function tables(view) {
  const parts = [
    twin("The cosine with each position", () => cosineRows(view.now), "the cosines as a table"),
    twin("Two positions, pair by pair", () => pairRows(view.now), "the two positions as a table"),
  ];
  return together(el("div", "foot", nodes(parts)), parts);
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Sinusoidal positions", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
