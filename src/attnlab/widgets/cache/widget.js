// What a model's cache takes: the reader changes the model, the texts and the bits, and sees when it
// outgrows the weights, and a GPU.

import { alertLine, choice, el, nodes, note, reset, setText, together, twin } from "../core/view/dom.js";
import { drawn } from "../core/view/plot.js";
import { power } from "../parts/power.js";
import { curves, FIRST, LAST, MEMORIES } from "./curves.js";
import { counted, said, tableRows } from "./words.js";

const data = ["models", "initial"];
const state = ["chosen", "context", "batch", "bits", "weight_bits", "gpu"];

const BITS = [16, 8, 4];
const WIDEST = 760;
const LARGEST = 10; // of the batch, as a power of 2

const NOTE =
  "Thick: the chosen model’s cache; dashed: with the weights of the model. A dotted line is beyond the " +
  "context that a model was made for. 1 GB is 10⁹ bytes. Scales of quantised numbers are not counted.";

function build(store) {
  const view = drawn({ store, alert: alertLine() }, draw);
  const models = store.get("models");
  const picture = curves((power) => store.set({ context: 2 ** power }));
  view.settings = settings(view, models);
  view.picture = picture;
  view.twin = twin("All models", () => tableRows(view.now), "all models as a table");
  view.node = el(
    "div",
    {},
    view.settings.node,
    view.alert.node,
    el("div", "curves", picture.node),
    view.status,
    note(NOTE),
    el("div", "foot", view.twin.node),
  );
  return view;
}

function draw(view, width) {
  const { store } = view;
  const [chosen, context, batch, bits, weightBits, gpu] = state.map((name) => store.get(name));
  const now = { models: store.get("models"), chosen, context, batch, bits, weightBits, gpu, memory: gpu * 1e9 };
  view.now = { ...now, all: now.models.map((model) => counted(model, now)) };
  view.settings.show(view.now);
  view.picture.show(view.now, Math.min(width, WIDEST));
  view.twin.show();
  setText(view.status, said(view.now));
}

function settings(view, models) {
  const { store } = view;
  const one = (label, names, key, trait, values) => {
    const box = choice(label, names, (place) => store.set({ [trait]: values[place] }));
    return { node: box.node, show: (now) => box.show(values.indexOf(now[key])) };
  };
  const bits = BITS.map((count) => `${count} bits`);
  const places = models.map((_, place) => place);
  const parts = [
    one(
      "model",
      models.map(({ name, year }) => `${name} (${year})`),
      "chosen",
      "chosen",
      places,
    ),
    power(view, "tokens in a text", "context", [FIRST, LAST]),
    power(view, "texts at once", "batch", [0, LARGEST]),
    one("cache in", bits, "bits", "bits", BITS),
    one("weights in", bits, "weightBits", "weight_bits", BITS),
    one(
      "GPU of",
      MEMORIES.map((size) => `${size} GB`),
      "gpu",
      "gpu",
      MEMORIES,
    ),
  ];
  return together(el("div", "controls", nodes(parts), reset(view, "settings")), parts);
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "What a cache takes", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
