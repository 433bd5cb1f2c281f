// A query and a few keys in four planes, moved by hand, and what four scores make of them.

import { replaced, times } from "../core/maths/lists.js";
import { identity, softmax } from "../core/maths/nn.js";
import {
  alertLine,
  button,
  el,
  forgive,
  mark,
  nodes,
  note,
  numberBox,
  reset,
  setText,
  statusLine,
  table,
  together,
} from "../core/view/dom.js";
import { read } from "../core/view/store.js";
import { plain, vector, visible } from "../core/view/text.js";
import { FARTHEST } from "../parts/plane.js";
import { fourScores } from "./maths.js";
import { low, panels, said } from "./panels.js";

const data = ["tokens", "initial", "alone"];
const state = ["query", "key", "w", "w_q", "w_k", "v", "tanh"];

const LARGEST = 10; // of a number in a matrix
const MATRICES = { w: "W", w_q: "W_q", w_k: "W_k" };

const HINT = [
  "Drag an arrow’s tip, or reach it with Tab and press the arrow keys (Shift: larger steps)",
  ": all four planes follow",
  ". A key’s circle grows with its weight.",
  " All places on a thin line have one score, that of the key on the line.",
  " Dashed are the query that the picture began with, and the circles that it gives.",
];

function build(store) {
  /** @type {any} */
  const view = {
    store,
    names: store.get("tokens").map(visible),
    alone: store.get("alone"),
    kept: (all) => (view.alone ? all.slice(1, 2) : all), // of the four
    // the last change by hand: what it was, what was there before, and whether a new one begins
    moved: null,
    from: null,
    fresh: true,
    hand: false,
    alert: alertLine(),
    status: statusLine(),
  };
  view.change = (what, changes) => byHand(view, what, changes);
  view.draw = () => draw(view);
  view.places = [
    line(store, "query", "query"),
    ...view.names.map((name, j) => line(store, `key ${name}`, "key", j, name)),
  ];
  view.parts = [settings(view), panels(view), learned(view)];
  const [top, four, folded] = nodes(view.parts);
  view.node = el(
    "div",
    {
      onfocusin: () => {
        view.fresh = true;
      },
    },
    four,
    view.alert.node,
    view.status,
    top,
    folded,
  );
  view.attach = () => {
    const [, four] = view.parts;
    const fit = () => {
      four.fit(); // not at each change: the browser lays all out for it
      four.show(view.now);
    };
    const observer = new ResizeObserver(fit);
    observer.observe(view.node);
    document.fonts.addEventListener("loadingdone", fit); // a page's own font may come late
    return () => {
      observer.disconnect();
      document.fonts.removeEventListener("loadingdone", fit);
    };
  };
  return view;
}

function draw(view) {
  const given = read(view.store, state);
  const by = view.kept(fourScores(given));
  const scores = by.map((score) => given.key.map(score));
  if (!view.hand) view.moved = null; // it was changed elsewhere
  const weights = (all) => all.map((row) => softmax(row));
  const { query } = view.store.get("initial");
  const first = view.kept(fourScores({ ...given, query })).map((score) => given.key.map(score));
  view.now = { ...given, by, scores, weights: weights(scores), first: { query, weights: weights(first) } };
  view.parts.forEach((part) => part.show(view.now));
  setText(view.status, said(view));
}

/**
 * A change by hand. `what` is {label, text}: text gives its value in a state, in words. What is
 * changed little by little, a line, is one change until the reader turns to something else.
 */
function byHand(view, what, changes) {
  if (view.fresh || !what?.at) view.from = view.now;
  view.fresh = false;
  view.moved = what;
  view.hand = true;
  view.store.set(changes);
  view.hand = false;
}

/** A line of numbers: the trait itself, or its row r; how it is read, and what a new one changes. */
function line(store, label, trait, r, name = label) {
  const at = (now) => (r === undefined ? now[trait] : now[trait][r]);
  const put = (values) => ({ [trait]: r === undefined ? values : replaced(store.get(trait), r, values) });
  return { label, name, r, at, put, text: (now) => vector(at(now)) };
}

/** Lines of numbers, each in a box of its own. */
function lines(view, title, rows, most) {
  const boxes = [];
  const box = (row, c) => {
    const one = numberBox({
      label: `${row.label}, number ${c + 1}`,
      most,
      step: 0.1,
      change: (value) => view.change(row, row.put(replaced(row.at(view.now), c, value))),
      tell: view.alert.tell,
    });
    boxes.push((now) => one.show(row.at(now)[c], plain(row.at(now)[c])));
    return one.node;
  };
  const columns = times(rows[0].at(view.store.get("initial")).length, (c) => c);
  const node = table(
    [title, ...columns.map((c) => c + 1)],
    rows.map((row) => [el("span", {}, low(row.label)), ...columns.map((c) => box(row, c))]),
  );
  mark(node, "vectors");
  return { node, show: (now) => boxes.forEach((show) => show(now)) };
}

function settings(view) {
  const hint = HINT.filter((_, k) => !view.alone || k % 2 === 0).join("");
  return { node: el("div", "controls", reset(view, "numbers"), note(hint)), show: () => {} };
}

/** Put in the numbers of a matrix: what was typed wrong is forgotten. */
function replace(view, what, changes) {
  forgive(view.node);
  view.alert.tell("");
  view.change(what, changes);
}

/** Every number, folded away at first, also those that a model would learn. */
function learned(view) {
  const first = view.store.get("initial");
  const rows = (name) => first[name].map((_, r) => line(view.store, `${MATRICES[name]}, row ${r + 1}`, name, r));
  const vectors = lines(view, "vector", view.places, FARTHEST);
  if (view.alone) {
    const node = el("details", "twin", el("summary", {}, "Type the numbers"), vectors.node);
    return together(node, [vectors]);
  }
  const parts = [
    vectors,
    lines(view, "bilinear", rows("w"), LARGEST),
    lines(view, "additive", [...rows("w_q"), ...rows("w_k"), line(view.store, "v", "v")], LARGEST),
  ];
  const put = Object.entries(MATRICES).map(([name, label]) =>
    button(low(`${label} = identity`), () =>
      replace(
        view,
        { label, text: (now) => now[name].map((row) => vector(row)).join(" ") },
        { [name]: identity(first[name].length, first[name][0].length) },
      ),
    ),
  );
  const node = el(
    "details",
    "twin",
    el("summary", {}, low("Type the numbers, also of W, W_q, W_k and v, which a model would learn")),
    el("div", "main", nodes(parts)),
    el("div", "actions", put),
  );
  return together(node, parts);
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Four scores", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
