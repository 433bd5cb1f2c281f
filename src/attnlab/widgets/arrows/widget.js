// Three words as arrows in a plane, and what one of them becomes: an average, a point in the
// triangle of their tips, drawn to each by a line as wide as that word's share.

import { times } from "../core/maths/lists.js";
import {
  alertLine,
  changed,
  choice,
  el,
  mark,
  nodes,
  note,
  numberBox,
  reset,
  scroller,
  setText,
  setVar,
  statusLine,
  svg,
  table,
} from "../core/view/dom.js";
import { read } from "../core/view/store.js";
import { fixed, listed, plain, vector, visible } from "../core/view/text.js";
import {
  arrow,
  FARTHEST,
  lines,
  nameTips,
  putAt,
  ringed,
  sizeOf,
  spot,
  stroke,
  tip,
  UNIT,
  widthOf,
} from "../parts/plane.js";
import { average, special } from "./maths.js";

const data = ["tokens", "initial"];
const state = ["vectors", "query"];

const SMALL = [-1, 3]; // a plane in which the first arrows are large
const HINT = "Drag a tip, or reach it with Tab and press the arrow keys (Shift: larger steps).";

function build(store) {
  /** @type {any} */
  const view = { store, names: store.get("tokens").map(visible), alert: alertLine(), status: statusLine() };
  view.change = (_, changes) => store.set(changes);
  view.places = view.names.map((name, j) => place(store, name, j));
  const settled = settings(view);
  const drawn = plane(view);
  const numbers = everyNumber(view);
  const side = el("div", "side", settled.node, view.status, note(HINT), view.alert.node);
  view.node = el("div", {}, el("div", "main", drawn.node, side), numbers.node);
  view.draw = () => {
    const given = read(store, state);
    view.now = { ...given, ...average(given) };
    [settled, drawn, numbers].forEach((part) => part.show(view.now));
    setText(view.status, said(view.names, view.now));
  };
  view.attach = () => {
    const observer = new ResizeObserver(() => drawn.show(view.now)); // the names keep apart
    observer.observe(view.node);
    return () => observer.disconnect();
  };
  return view;
}

/** A word's vector as a tip in the plane. */
function place(store, name, j) {
  const at = ({ vectors }) => vectors[j];
  const put = (values) => ({ vectors: store.get("vectors").map((old, r) => (r === j ? values : old)) });
  return { name, label: name, at, put, text: ({ vectors }) => vector(vectors[j]) };
}

/** Which word asks, and reset. */
function settings(view) {
  const { store, names } = view;
  const ask = choice("what becomes of", names, (query) => store.set({ query }));
  const node = el("div", "controls", ask.node, reset(view, "arrows"));
  return { node, show: ({ query }) => ask.show(query) };
}

function plane(view) {
  view.held = false;
  const path = (name) => svg("path", { class: name });
  const [grid, axes, triangle, arrows, asks] = ["grid", "axes", "triangle", "arrow", "asks"].map(path);
  const pulls = view.names.map(() => path("pull"));
  const tips = view.places.map((one) => tip(view, one, { tips: () => tips, size: () => 0.3 }));
  const shares = tips.map(({ token }) => token.appendChild(el("span", "share")));
  const made = { ...ringed(""), node: el("div", "tip made") };
  made.node.append(made.ring, made.token);
  made.grow(0.35);
  const letters = [1, 2].map((c) => svg("text", { "text-anchor": c > 1 ? "start" : "end" }, `number ${c}`));
  const drawing = svg("svg", { "aria-hidden": "true" }, grid, axes, triangle, arrows, asks, pulls, letters);
  const node = el(
    "div",
    { class: "plane", role: "group", "aria-label": "vectors, drawn" },
    drawing,
    nodes(tips),
    made.node,
  );
  const show = (now) => {
    widen(now);
    const { span } = view;
    triangle.setAttribute("d", `${stroke(span, ...now.vectors)}Z`);
    asks.setAttribute("d", arrow(span, now.vectors[now.query]));
    const others = now.vectors.filter((_, j) => j !== now.query);
    arrows.setAttribute("d", others.map((end) => arrow(span, end)).join(""));
    tips.forEach((one, j) => {
      one.show(now);
      mark(one.node, "asks", j === now.query);
      pulls[j].setAttribute("d", stroke(span, now.vectors[j], now.output));
      pulls[j].setAttribute("stroke-width", (14 * now.weights[j]).toFixed(2));
      setText(shares[j], ` ${fixed(100 * now.weights[j], 1)} %`);
    });
    setText(made.token, `new ${view.names[now.query]}`);
    putAt(made.node, span, now.output);
    const all = [...tips, made];
    nameTips(span, node.clientWidth, all, [...now.vectors, now.output], all.map(sizeOf));
  };
  /** The plane is larger where a tip is at its edge, but not while a pointer has it. */
  function widen({ vectors: ends }) {
    const span = ends.flat().every((x) => x > SMALL[0] && x < SMALL[1]) ? SMALL : [-FARTHEST, FARTHEST];
    if (view.held || view.span === span) return;
    view.span = span;
    const wide = widthOf(span) * UNIT;
    drawing.setAttribute("viewBox", `0 0 ${wide} ${wide}`);
    setVar(drawing, "letters", wide / 32);
    letters.forEach((text, axis) => {
      const [x, y] = spot(span, axis ? [span[0], span[1]] : [span[1], span[0]]);
      text.setAttribute("x", x);
      text.setAttribute("y", y + (axis ? -wide / 60 : wide / 24));
    });
    axes.setAttribute("d", lines(span, 0));
    grid.setAttribute("d", times(span[1] - span[0] + 1, (k) => lines(span, span[0] + k)).join(""));
  }
  view.drop = () => {
    view.held = false;
    show(view.now);
  };
  return { node, show };
}

/** Every number, folded away at first: to be read, and typed. */
function everyNumber(view) {
  const { store, names } = view;
  const boxes = names.map((name, j) =>
    [0, 1].map((c) =>
      numberBox({
        label: `${name}, number ${c + 1}`,
        most: FARTHEST,
        step: 0.1,
        change: (value) => store.set(changed(store, "vectors", j, c, value)),
        tell: view.alert.tell,
      }),
    ),
  );
  const results = names.map(() => times(3, () => el("span")));
  const rows = names.map((name, j) => [name, ...nodes(boxes[j]), ...results[j]]);
  const drawn = table(["word", "number 1", "number 2", "score", "÷ √2", "weight"], rows);
  const node = el(
    "details",
    "twin",
    el("summary", {}, "the numbers, to read and to type"),
    scroller("The numbers", drawn),
  );
  const show = (now) => {
    names.forEach((_, j) => {
      boxes[j].forEach((box, c) => box.show(now.vectors[j][c]));
      [plain(now.raw[j]), plain(now.ready[j]), fixed(now.weights[j])].forEach((text, k) =>
        setText(results[j][k], text),
      );
    });
  };
  return { node, show };
}

/** The average in words and numbers, and what is special about it. */
function said(names, { weights, output, query, vectors }) {
  const parts = weights.map((weight, j) => `${fixed(weight)} ${names[j]}`);
  const { same, silent, zeros, line } = special(vectors, query);
  const more = [];
  if (silent) more.push(`${names[query]} is all zeros: every score is 0, so each word gets a third.`);
  if (same) more.push("All three vectors are the same, and so is every average of them.");
  else if (line) more.push("The three tips lie on one line, and so does every average of them.");
  if (!silent && zeros.length)
    more.push(`${listed(zeros.map((j) => names[j]))}: all zeros, so the score is 0, and exp(0) = 1 is still a share.`);
  return [`new ${names[query]} = ${parts.join(" + ")} = ${vector(output, fixed)}.`, ...more].join(" ");
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Three arrows and their average", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
