// One token's vector in its three roles: the reader edits the matrices, all the rest follows.

import { button, el, numberBox, setText, tick } from "./dom.js";
import { roles } from "./math.js";
import { block } from "./roles-block.js";
import { asking, squares } from "./roles-tables.js";
import { fixed, plain, vector, visible } from "./text.js";

export const data = ["tokens", "initial", "step"];
export const state = ["vectors", "w_q", "w_k", "w_v", "token", "scaled", "causal"];
export const drawsTable = true;

const MOST = 1000; // a larger number would only fill the tables with digits

const HINT = "In the squares, a row belongs to the token that asks; its largest weight is bold. "
  + "Click a row, or use the up and down arrow keys, to work it out.";

const ROLES = [
  { letter: "q", upper: "Q", name: "query", matrix: "w_q" },
  { letter: "k", upper: "K", name: "key", matrix: "w_k" },
  { letter: "v", upper: "V", name: "value", matrix: "w_v" },
];

export function build(store) {
  const view = { store, names: store.get("tokens").map(visible), boxes: [] };
  view.box = (label, name, r, c) => box(view, label, name, r, c);
  view.message = el("p", { class: "attnbook-error", role: "alert" });
  view.status = el("p", { class: "attnbook-status", role: "status" });
  const blocks = ROLES.map((role) => block(view, role));
  view.parts = [settings(view), ...blocks, asking(view), squares(view)];
  const [top, q, k, v, table, both] = view.parts.map(({ node }) => node);
  view.node = el("div", {}, top, el("div", { class: "attnbook-trio" }, q, k, v),
    view.message, table, both, view.status, el("p", { class: "attnbook-note" }, HINT));
  view.draw = () => draw(view);
  return view;
}

function draw(view) {
  const { store, names } = view;
  const given = Object.fromEntries(state.map((name) => [name, store.get(name)]));
  const now = { ...given, ...roles(given), names };
  view.parts.forEach((part) => part.show(now));
  setText(view.status, said(now));
}

/** "nuts attends most to had (0.867); its output is (…)." */
function said({ names, token, weights, output }) {
  const most = Math.max(...weights[token]);
  const best = names.filter((_, j) => weights[token][j] >= most - 1e-9).join(" and ");
  const result = vector(output[token], fixed);
  return `${names[token]} attends most to ${best} (${fixed(most)}); its output is ${result}.`;
}

function settings(view) {
  const { store, names } = view;
  const choose = el("select", { onchange: () => store.set({ token: choose.selectedIndex }) },
    names.map((name) => el("option", {}, name)));
  const x = own(view);
  const d = store.get("initial").w_q[0].length;
  const scaled = d > 1 ? tick(`divide by √${d}`, (on) => store.set({ scaled: on })) : null;
  const causal = tick("causal mask", (on) => store.set({ causal: on }));
  const reset = button("reset", () => replace(view, store.get("initial")),
    { "aria-label": "reset to the first numbers" });
  const node = el("div", { class: "attnbook-controls" },
    el("label", { class: "attnbook-choose" }, el("span", {}, "token"), choose),
    x.node, scaled?.node, causal.node, reset);
  const show = (now) => {
    choose.selectedIndex = now.token;
    x.show(now);
    scaled?.show(now.scaled);
    causal.show(now.causal);
  };
  view.replace = (changes) => replace(view, changes);
  return { node, show };
}

/** Put in numbers from elsewhere than a box: what was typed wrong is forgotten. */
function replace(view, changes) {
  for (const { node, name } of view.boxes) {
    if (name in changes) node.removeAttribute("aria-invalid");
  }
  setText(view.message, "");
  view.store.set(changes);
  view.draw(); // the very numbers that are there still have to come back into the boxes
}

/** The chosen token's own vector, to be edited too. */
function own(view) {
  const boxes = view.store.get("initial").vectors[0].map((_, c) =>
    box(view, `number ${c + 1} of x`, "vectors", null, c));
  const node = el("div", { class: "attnbook-own" }, "x =", boxes.map((one) => one.node));
  return { node, show: (now) => boxes.forEach((one) => one.show(now)) };
}

/** A box for one number of a matrix; where r is null it is of the chosen token's row. */
function box(view, label, name, r, c) {
  const { store } = view;
  const row = () => r ?? store.get("token");
  const one = numberBox({
    label, wanted: `a number from −${MOST} to ${MOST}`, step: store.get("step"),
    usable: (value) => Math.abs(value) <= MOST,
    change(value) {
      const rows = store.get(name).map((values) => [...values]);
      rows[row()][c] = value;
      store.set({ [name]: rows });
    },
    tell: (message) => setText(view.message, message),
  });
  view.boxes.push({ node: one.node, name });
  const show = (now) => {
    const value = now[name][row()][c];
    one.show(value, plain(value));
  };
  return { node: one.node, show };
}
