// Rotary positions beyond the trained length: the reader drags the distance and chooses a scaling,
// and sees which hands stand where none stood in training.

import { grouped } from "../core/maths/number.js";
import { slide } from "../core/view/controls.js";
import {
  alertLine,
  choice,
  el,
  nodes,
  note,
  numberBox,
  reset,
  setText,
  statusLine,
  together,
  twin,
} from "../core/view/dom.js";
import { curve } from "./curve.js";
import { dials } from "./dials.js";
import { hands, met, speeds } from "./maths.js";
import { ofPair, rows, said } from "./words.js";

const data = ["d", "base", "trained", "initial"];
const state = ["distance", "scaling", "factor", "pair"];

const SCALINGS = ["none", "interpolation", "ntk", "yarn", "llama3"];
const NAMES = ["none", "interpolation", "NTK-aware", "YaRN", "Llama 3"];
const TIMES = 16; // as long, and as slow, at most
const EIGHTH = 0.125; // of an octave: a step of the distance's slider

const NOTE =
  "Upright: the key’s hand; thick: the query’s. The band holds the angles that training on n₀ tokens " +
  "showed, up to the mark. In the curve: dashed as trained, blue as scaled now, dotted the distance, and " +
  "large dots the pairs whose hand stands where none stood in training. The scaling is switched on after training.";

function build(store) {
  const view = { store, alert: alertLine(), status: statusLine() };
  const [d, base, trained] = data.map((name) => store.get(name));
  const head = { d, base, trained };
  const pair = note();
  const parts = [settings(view, head), dials(), curve({ ...head, most: TIMES }), table(store, head)];
  const [top, clocks, line, folded] = nodes(parts);
  const node = el(
    "div",
    {},
    top,
    view.alert.node,
    el("div", "main", clocks, line),
    view.status,
    pair,
    note(NOTE),
    folded,
  );
  const draw = () => {
    const now = worked(store, head);
    parts.forEach((part) => part.show(now));
    setText(view.status, said(now));
    setText(pair, ofPair(now));
  };
  return Object.assign(view, { node, draw });
}

/** Everything that follows from the state; a choice out of range waits for the other change. */
function worked(store, head) {
  const [distance, scaling, s, pair] = state.map((trait) => store.get(trait));
  const [plainly, now, known] = [speeds(head), speeds(head, scaling, s), met(head)];
  const at = Math.min(pair, head.d / 2 - 1);
  return { ...head, distance, scaling, s, pair: at, plainly, now, known, hands: hands(now, known, distance) };
}

function settings(view, head) {
  const { store } = view;
  const kind = choice("scaling", NAMES, (place) => store.set({ scaling: SCALINGS[place] }));
  const by = slide({
    store,
    tell: view.alert.tell,
    name: "factor",
    label: "factor s",
    min: 0,
    max: Math.log2(TIMES),
    least: 1,
    most: TIMES,
    value: (place) => Number((2 ** place).toPrecision(3)),
    place: Math.log2,
  });
  const factor = (now) => {
    by.show();
    by.node.querySelectorAll("input").forEach((input) => {
      input.disabled = now.scaling === "none";
    });
  };
  const parts = [
    far(view, head),
    { node: kind.node, show: (now) => kind.show(SCALINGS.indexOf(now.scaling)) },
    { node: by.node, show: factor },
    whole(store, head),
  ];
  return together(el("div", "controls hands", nodes(parts), reset(view, "settings")), parts);
}

/** The distance, on a slider in octaves around n₀, and exactly in a box. */
function far({ store, alert }, { trained }) {
  const most = TIMES * trained;
  const label = "distance in tokens";
  const set = (distance) => store.set({ distance });
  const slider = el("input", {
    type: "range",
    min: -Math.ceil(Math.log2(trained) / EIGHTH) * EIGHTH,
    max: Math.log2(TIMES),
    step: EIGHTH,
    "aria-label": label,
    oninput: () => set(Math.max(1, Math.round(trained * 2 ** Number(slider.value)))),
  });
  const box = numberBox({ label: `${label} as a number`, whole: true, least: 1, most, change: set, tell: alert.tell });
  const times = el("span", "value");
  const show = ({ distance }) => {
    const there = Math.log2(distance / trained);
    // a slider under the reader's finger already stands where it should
    if (Math.abs(Number(slider.value) - there) > EIGHTH / 2) slider.value = there;
    const shown = `${grouped(Number((distance / trained).toPrecision(3)))} n₀`;
    slider.setAttribute("aria-valuetext", `${grouped(distance)}, ${shown}`);
    box.show(distance);
    setText(times, `= ${shown}`);
  };
  return { node: el("div", "slide far", el("span", { "aria-hidden": "true" }, label), slider, box.node, times), show };
}

/** The pair that is pointed out, by a slider of whole numbers. */
function whole(store, { d }) {
  const slider = el("input", {
    type: "range",
    min: 0,
    max: d / 2 - 1,
    "aria-label": "pair i",
    oninput: () => store.set({ pair: Number(slider.value) }),
  });
  const told = el("span", "value");
  const show = ({ pair }) => {
    slider.value = pair;
    setText(told, String(pair));
  };
  return { node: el("div", "slide", el("span", { "aria-hidden": "true" }, "pair i"), slider, told), show };
}

const table = (store, head) => twin("Each pair before and after scaling", () => rows(worked(store, head)));

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Rotary clocks", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
