// Beam search over a table of next words: the reader steps through it, chooses k and the length
// penalty, and may edit the probabilities.

import { path } from "../core/maths/beam.js";
import { times } from "../core/maths/lists.js";
import { slide } from "../core/view/controls.js";
import {
  alertLine,
  changed,
  choice,
  el,
  nodes,
  note,
  numberBox,
  reset,
  setText,
  statusLine,
  together,
} from "../core/view/dom.js";
import { stepper } from "../core/view/stepper.js";
import { visible } from "../core/view/text.js";
import { tableSearch } from "./maths.js";
import { tree } from "./tree.js";
import { describe, status, tables } from "./words.js";

const data = ["words", "prefixes", "words_of", "beams", "max_length", "editable", "eos", "initial"];
const state = ["logs", "beam", "penalty", "step"];

const NOTE =
  "Each box is a candidate: its last word, then log p of all its words and, in " +
  "parentheses, the last word’s probability. Point at one, or go there with the arrow keys, to " +
  "see the sum.";

function build(store) {
  const names = store.get("words");
  /** @type {any} */
  const view = {
    store,
    names,
    eos: names.indexOf(store.get("eos")),
    longest: store.get("max_length"),
    cursor: null, // the candidate under the pointer or the keyboard; each view has its own
    alert: alertLine(),
    above: el("div"), // what is refused is said where it was typed: above the tree, or among the boxes below it
    among: el("div"),
    status: statusLine(),
  };
  view.draw = () => draw(view);
  view.tree = tree(view, (cursor) => {
    view.cursor = cursor;
    say(view);
  });
  const edited = store.get("editable") ? [editor(view)] : [];
  view.above.append(...view.alert.node);
  view.parts = [settings(view), along(view), view.tree, tables(view), ...edited];
  const [top, steps, grown, found] = nodes(view.parts);
  view.node = el("div", {}, top, view.above, steps, grown, view.status, note(NOTE), found, nodes(edited));
  return view;
}

function draw(view) {
  const { store, longest, eos } = view;
  const [prefixes, wordsOf, logs, beam, penalty] = ["prefixes", "words_of", "logs", "beam", "penalty"].map((name) =>
    store.get(name),
  );
  const now = tableSearch({ prefixes, wordsOf, logs, beam, penalty, eos, longest });
  Object.assign(view, { now, beam, penalty, cursor: null });
  view.step = Math.min(store.get("step"), now.steps.length);
  view.parts.forEach((part) => part.show());
  say(view);
}

function say(view) {
  const {
    cursor,
    step,
    now: { steps, ranking },
  } = view;
  const end = cursor ? steps[cursor.n - 1].all[cursor.place] : step === steps.length && ranking[0]?.one;
  view.tree.light(end ? path(end) : []);
  setText(view.status, cursor ? describe(view, cursor) : status(view));
}

/** Tell at a place, to which the one line for it moves. */
const teller =
  ({ alert }, place) =>
  (...said) => {
    place.append(...alert.node);
    alert.tell(...said);
  };

function settings(view) {
  const { store } = view;
  const tell = teller(view, view.above);
  const k = choice(
    "beam k",
    times(store.get("beams"), (at) => (at ? String(at + 1) : "1 (greedy)")),
    (at) => store.set({ beam: at + 1 }),
  );
  const penalty = slide({ store, tell, name: "penalty", label: "length penalty α", min: 0, max: 2, least: 0, most: 2 });
  const show = () => {
    k.show(view.beam - 1);
    penalty.show();
  };
  return { node: el("div", "controls", k.node, penalty.node, reset(view, "search")), show };
}

function along(view) {
  const last = () => view.now.steps.length;
  return stepper({
    what: "words",
    moves: { start: -Infinity, previous: -1, next: 1, end: Infinity },
    last,
    at: () => Math.min(view.store.get("step"), last()),
    go: (step) => view.store.set({ step }),
    told: () => `word ${view.step} of ${last()}`,
  });
}

const share = (log) => (log === null ? 0 : Number(Math.exp(log).toPrecision(8)));
const sum = (logs) => logs.reduce((total, log) => total + share(log), 0);

/** The probabilities as boxes, a line for each prefix, with what is left for other words. */
function editor(view) {
  const prefixes = [];
  view.store
    .get("prefixes")
    .forEach(([row, word], at) => prefixes.push(at ? [...prefixes[row], visible(view.names[word])] : []));
  const lines = prefixes.map((prefix, row) => line(view, row, prefix.length ? `after “${prefix.join(" ")}”` : "first"));
  const node = el(
    "details",
    { class: "twin" },
    el("summary", {}, "The probabilities: change them"),
    view.among,
    el("div", "edited", nodes(lines)),
  );
  return together(node, lines);
}

function line(view, row, where) {
  const { store, names } = view;
  const rest = el("span", "note");
  const numbers = () => store.get("logs")[row];
  const boxes = store.get("words_of")[row].map((word, at) => {
    const name = visible(names[word]);
    const box = numberBox({
      label: `${name}, ${where}`,
      step: 0.05,
      least: 0,
      most: 1,
      wanted: "a number from 0 to 1, with at most 1 in all in its line,",
      usable: (value) => sum(numbers().filter((_, other) => other !== at)) + value <= 1 + 1e-6,
      change: (value) => store.set(changed(store, "logs", row, at, value > 0 ? Math.min(0, Math.log(value)) : null)),
      tell: teller(view, view.among),
    });
    const show = (log) => box.show(share(log));
    return { node: el("label", {}, name, box.node), show };
  });
  const node = el("div", { role: "group", "aria-label": where }, el("span", {}, where), nodes(boxes), rest);
  const show = () => {
    numbers().forEach((log, at) => boxes[at].show(log));
    setText(rest, `others ${Number(Math.max(0, 1 - sum(numbers())).toFixed(4))}`);
  };
  return { node, show };
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Beam search", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
