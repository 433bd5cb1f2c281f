// One token's vector in its three roles: the reader edits the matrices, all the rest follows.

import { masking, scaling } from "../core/view/controls.js";
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
import { read } from "../core/view/store.js";
import { fixed, listed, plain, quoted, vector, visible } from "../core/view/text.js";
import { block } from "./block.js";
import { roles } from "./maths.js";
import { asking, squares } from "./tables.js";

const data = ["tokens", "initial", "step"];
const state = ["vectors", "w_q", "w_k", "w_v", "token", "scaled", "causal"];

const MOST = 1000; // a larger number would only fill the tables with digits

const HINT =
  "In the squares, a row belongs to the token that asks; its largest weight is bold. " +
  "Press a row, or use the up and down arrow keys, to work it out.";

const ROLES = [
  { letter: "q", upper: "Q", name: "query", matrix: "w_q" },
  { letter: "k", upper: "K", name: "key", matrix: "w_k" },
  { letter: "v", upper: "V", name: "value", matrix: "w_v" },
];

function build(store) {
  /** @type {any} */
  const view = { store, names: store.get("tokens").map(visible) };
  view.box = (label, name, r, c) => box(view, label, name, r, c);
  view.alert = alertLine();
  view.status = statusLine();
  const blocks = ROLES.map((role) => block(view, role));
  view.parts = [settings(view), ...blocks, asking(view), squares(view)];
  const [top, q, k, v, table, both] = nodes(view.parts);
  view.node = el("div", {}, top, el("div", "trio", q, k, v), view.alert.node, table, both, view.status, note(HINT));
  view.draw = () => draw(view);
  return view;
}

function draw(view) {
  const { store, names } = view;
  const given = read(store, state);
  const now = { ...given, ...roles(given), names };
  view.parts.forEach((part) => part.show(now));
  setText(view.status, said(now));
}

/** "“nuts” attends most to “had” (0.867); its output is (…)." */
function said({ names, token, weights, output }) {
  const most = Math.max(...weights[token]);
  const best = listed(names.filter((_, j) => weights[token][j] >= most - 1e-9).map(quoted));
  const result = vector(output[token], fixed);
  return `${quoted(names[token])} attends most to ${best} (${fixed(most)}); its output is ${result}.`;
}

function settings(view) {
  const { store, names } = view;
  const choose = choice("token", names, (token) => store.set({ token }));
  const x = own(view);
  const boxes = [scaling(store, store.get("initial").w_q[0].length), masking(store)];
  const node = el("div", "controls", choose.node, x.node, nodes(boxes), reset(view, "numbers"));
  const show = (now) => {
    choose.show(now.token);
    x.show(now);
    boxes.forEach((one) => one.show());
  };
  return { node, show };
}

/** The chosen token's own vector, to be edited too. */
function own(view) {
  const boxes = view.store
    .get("initial")
    .vectors[0].map((_, c) => box(view, `number ${c + 1} of x`, "vectors", null, c));
  return together(el("div", "own", "x =", nodes(boxes)), boxes);
}

/** A box for one number of a matrix; where r is null it is of the chosen token's row. */
function box(view, label, name, r, c) {
  const { store } = view;
  const row = () => r ?? store.get("token");
  const one = numberBox({
    label,
    most: MOST,
    step: store.get("step"),
    change: (value) => store.set(changed(store, name, row(), c, value)),
    tell: view.alert.tell,
  });
  const show = (now) => {
    const value = now[name][row()][c];
    one.show(value, plain(value));
  };
  return { node: one.node, show };
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Query, key and value", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
