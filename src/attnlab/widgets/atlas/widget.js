// An atlas of a model's heads: each a point by two scores, and of the pressed one where it looks.

import { times } from "../core/maths/lists.js";
import {
  alertLine,
  choice,
  el,
  nodes,
  note,
  reset,
  setText,
  statusLine,
  table,
  together,
  twin,
} from "../core/view/dom.js";
import { fixed } from "../core/view/text.js";
import { scatter } from "./draw.js";
import { casesOf, pieces } from "./maths.js";
import {
  allCells,
  counted,
  headOf,
  LOOKS,
  largestCells,
  NAMES,
  ON,
  said,
  scoreCells,
  TEXTS,
  told,
  way,
} from "./words.js";

const data = ["scores", "even", "counted", "sizes", "best", "sentences", "initial"];
const state = ["across", "upwards", "on", "layer", "head"];

const NOTE =
  "Alike: a head that looks at all its tokens alike. Best: the largest single weights in all sentences, not the usual ones; underlined, the token that looks, boxed, the one that is looked at.";

function build(store) {
  /** @type {any} */
  const view = { store, alert: alertLine(), status: statusLine() };
  const { heads } = store.get("sizes");
  const press = (place) => store.set({ layer: Math.floor(place / heads), head: place % heads });
  const point = (place) => {
    view.pointed = place;
    setText(view.status, `${said(view.now, place < 0 ? view.now.place : place)}.`);
  };
  const title = el("p", "title");
  const many = note();
  const cases = el("div", "cases");
  const parts = [
    settings(view),
    scatter(store.get("sizes"), press, point),
    twin("The largest", () => largestCells(view.now), "the largest as a table"),
    twin("All heads", () => allCells(view.now), "all heads as a table"),
  ];
  const [top, left, ...twins] = nodes(parts);
  const scores = el("div");
  const right = el("div", "pressed", title, scores, cases);
  view.node = el(
    "div",
    {},
    top,
    view.alert.node,
    el("div", "main", el("div", "left", left, view.status, many, note(NOTE)), right),
    el("div", "foot", twins),
  );
  view.draw = () => {
    view.now = worked(store);
    for (const part of parts) part.show(view.now);
    setText(title, `${headOf(view.now.place, heads)}, pressed`);
    setText(many, counted(store, view.now));
    const [head, ...rows] = scoreCells({ store, ...view.now });
    scores.replaceChildren(table(head, rows));
    cases.replaceChildren(...groups(store, view.now));
    point(-1);
  };
  return view;
}

/** Everything that follows from the state. */
function worked(store) {
  const [x, y, on, layer, head] = state.map((name) => store.get(name));
  const { layers, heads } = store.get("sizes");
  const axes = [x, y].map((axis) => LOOKS.indexOf(axis));
  const points = store.get("scores")[on].map((four) => axes.map((axis) => four[axis]));
  return { x, y, on, layer, head, layers, heads, points, even: store.get("even")[on], place: layer * heads + head };
}

/** The sentences with the largest weights on what the axes name, and on none of the four. */
function groups(store, { x, y, place }) {
  const sentences = store.get("sentences");
  const flat = store.get("best")[place];
  return [...new Set([x, y, "elsewhere"])].map((look) =>
    el(
      "div",
      "group",
      el("p", "title", `best on ${told(look)}`),
      el(
        "ol",
        {},
        casesOf(flat, LOOKS.length, LOOKS.indexOf(look)).map(([at, from, to, percent]) => {
          const tokens = sentences[at];
          const parts = pieces(tokens, from, to).map(({ text, role }) => (role ? el("span", role, text) : text));
          return el("li", {}, parts, el("span", "way", `${way(tokens, from, to)} ${fixed(percent / 100, 2)}`));
        }),
      ),
    ),
  );
}

function settings(view) {
  const { store } = view;
  const { layers, heads } = store.get("sizes");
  const one = (label, trait, values, names) => {
    const box = choice(label, names, (place) => store.set({ [trait]: values[place] }));
    return { node: box.node, show: () => box.show(values.indexOf(store.get(trait))) };
  };
  const scores = LOOKS.slice(0, NAMES.length);
  const numbers = (count) => [times(count, (k) => k), times(count, String)];
  const parts = [
    one("across", "across", scores, NAMES),
    one("upwards", "upwards", scores, NAMES),
    one("on", "on", ON, TEXTS),
    one("layer", "layer", ...numbers(layers)),
    one("head", "head", ...numbers(heads)),
  ];
  return together(el("div", "controls", nodes(parts), reset(view, "settings")), parts);
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "An atlas of heads", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
