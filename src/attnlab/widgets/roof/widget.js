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
  settingsFold,
  statusLine,
  together,
  twin,
} from "../core/view/dom.js";
import { power } from "../parts/power.js";
import { bars, roofline, ways } from "./draw.js";
import { pace, step } from "./maths.js";
import { compared, fit, formula, rows, said, wayRows } from "./words.js";

const data = ["models", "machines", "ways", "initial"];
const state = ["model", "machine", "texts", "tokens", "cached", "weight_bits", "cache_bits"];

const NOTE = "Dot: the step. Rings: its weights and caches.";

/** Ways of writing beside each other: one slider, a bar for each. */
function beside(view) {
  const { store } = view;
  const now = () => {
    const [texts, machine] = [store.get("texts"), store.get("machines")[store.get("machine")]];
    return { texts, machine, paces: store.get("ways").map((way) => pace(way, machine, texts)) };
  };
  const slider = power(view, "texts at once", "texts", [0, 5]);
  const parts = [slider, ways(store.get("ways").length), twin("The ways", () => wayRows(now()))];
  const [texts, picture, folded] = nodes(parts);
  const top = el("div", "controls", texts, reset(view, "settings"));
  const node = el("div", {}, top, view.alert.node, picture, view.status, folded);
  const draw = () => {
    parts.forEach((part) => part.show({ ...now() }));
    setText(view.status, compared(now()));
  };
  return Object.assign(view, { node, draw });
}

function build(store) {
  if (store.get("ways").length) return beside({ store, alert: alertLine(), status: statusLine() });
  const view = { store, alert: alertLine(), status: statusLine() };
  const worth = el("p", "formula");
  const fits = el("p", "fits");
  const parts = [settings(view), bars(), roofline(), twin("A step", () => rows(worked(store)))];
  const [top, left, right, folded] = nodes(parts);
  const pictures = el("div", "main", el("div", "half", left, worth), el("div", "half", right));
  const node = el("div", {}, top, view.alert.node, pictures, view.status, fits, note(NOTE), folded);
  const draw = () => {
    const all = worked(store);
    parts.forEach((part) => part.show(all));
    setText(worth, formula(all));
    setText(view.status, said(all));
    setText(fits, fit(all));
    mark(fits, "over", all.now.room < all.texts);
  };
  return Object.assign(view, { node, draw });
}

/** Everything that follows from the state. @type {(store: import("../core/types.d.ts").Store) => any} */
function worked(store) {
  /** @type {any} */
  const call = Object.fromEntries(state.map((name) => [name, store.get(name)]));
  const [model, machine] = ["model", "machine"].map((name) => store.get(`${name}s`)[call[name]]);
  return { ...call, model, machine, now: step(model, machine, call) };
}

function settings(view) {
  const { store } = view;
  const one = (label, trait, values, name) => {
    const box = choice(label, values.map(name), (place) => store.set({ [trait]: values[place] }));
    return { node: box.node, show: () => box.show(values.indexOf(store.get(trait))) };
  };
  const named = (trait) => {
    const all = store.get(`${trait}s`);
    return one(trait, trait, [...all.keys()], (place) => all[place].name);
  };
  const bits = (label, trait) => one(label, trait, [16, 8, 4], (count) => `${count} bits`);
  const parts = [
    power(view, "texts at once", "texts", [0, 12]),
    named("model"),
    named("machine"),
    power(view, "new tokens of each", "tokens", [0, 13]),
    power(view, "tokens in each cache", "cached", [7, 17], true),
    bits("weights in", "weight_bits"),
    bits("caches in", "cache_bits"),
  ];
  const [texts, ...rest] = parts;
  const fold = settingsFold(nodes(rest));
  return together(el("div", {}, el("div", "controls", texts.node, reset(view, "settings")), fold), parts);
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "The time of a step", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
