// The step of a decoding language model: memory's time beside arithmetic's, and the roof over both.

import {
  alertLine,
  choice,
  el,
  mark,
  nodes,
  note,
  reset,
  setText,
  statusLine,
  together,
  twin,
} from "../core/view/dom.js";
import { power } from "../parts/power.js";
import { bars, roofline } from "./draw.js";
import { step } from "./maths.js";
import { fit, formula, rows, said } from "./words.js";

const data = ["models", "machines", "initial"];
const state = ["model", "machine", "texts", "tokens", "cached", "weight_bits", "cache_bits"];

const BITS = [16, 8, 4];

const NOTE =
  "step = max((weights + caches) / bytes a second, operations / operations a second). A weight is read once a step " +
  "and makes one product, 2 operations, for each token; each text reads its own cache. Under the roof, whose axes are " +
  "logarithmic: the full dot is this step, the rings its weights and its caches alone.";

function build(store) {
  const view = { store, alert: alertLine(), status: statusLine() };
  const parts = [settings(view), bars(), sentence(), roofline(), table(() => worked(store))];
  const [top, left, equation, right, folded] = nodes(parts);
  const fits = el("p", "fits");
  const pictures = el("div", "main", el("div", "half", left, equation), el("div", "half", right));
  const node = el("div", {}, top, view.alert.node, pictures, view.status, fits, note(NOTE), folded);
  const draw = () => {
    const now = worked(store);
    parts.forEach((part) => part.show(now));
    setText(view.status, said(now));
    setText(fits, fit(now));
    mark(fits, "over", now.now.room < now.call.texts);
  };
  return Object.assign(view, { node, draw });
}

/** Everything that follows from the state. */
function worked(store) {
  const [place, at, texts, tokens, cached, weightBits, cacheBits] = state.map((name) => store.get(name));
  const [model, machine] = [store.get("models")[place], store.get("machines")[at]];
  const call = { texts, tokens, cached, weightBits, cacheBits };
  return { ...call, call, place, at, model, machine, now: step(model, machine, call) };
}

function settings(view) {
  const { store } = view;
  const one = (label, names, key, trait, values) => {
    const box = choice(label, names, (place) => store.set({ [trait]: values[place] }));
    return { node: box.node, show: (now) => box.show(values.indexOf(now[key])) };
  };
  const named = (label, all, key, trait) =>
    one(
      label,
      all.map(({ name }) => name),
      key,
      trait,
      all.map((_, i) => i),
    );
  const bits = BITS.map((count) => `${count} bits`);
  const parts = [
    named("model", store.get("models"), "place", "model"),
    named("machine", store.get("machines"), "at", "machine"),
    power(view, "texts at once", "texts", [0, 12]),
    power(view, "new tokens of each", "tokens", [0, 13]),
    power(view, "tokens in each cache", "cached", [7, 17], true),
    one("weights in", bits, "weightBits", "weight_bits", BITS),
    one("caches in", bits, "cacheBits", "cache_bits", BITS),
  ];
  return together(el("div", "controls", nodes(parts), reset(view, "settings")), parts);
}

/** The formula with the present numbers, in the colours of the bars. */
function sentence() {
  const node = el("p", "formula");
  const parts = (now) => formula(now).map((part) => (Array.isArray(part) ? el("span", part[1], part[0]) : part));
  return { node, show: (now) => node.replaceChildren(...parts(now)) };
}

const table = (now) => twin("A step", () => rows(now()));

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "The time of a step", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
