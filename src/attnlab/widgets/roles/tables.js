// What the three roles are for: one token's row of attention, and the squares of all tokens.

import { within } from "../core/maths/lists.js";
import {
  bar,
  button,
  el,
  grid,
  keyed,
  mark,
  nodes,
  note,
  onKeys,
  pressed,
  scroller,
  setText,
  setVar,
} from "../core/view/dom.js";
import { fixed, plain, vector } from "../core/view/text.js";
import { products } from "./block.js";
import { lopsided } from "./maths.js";

const COLUMNS = ["vector x", "key k", "score q · k", "scaled", "weight", "value v"];
const SCALED = 3;

/** The chosen token asks each token: key, score, weight and value, and the sum of the values. */
export function asking(view) {
  const local = { asked: 0, now: null }; // whose score is written out; each view has its own
  const choose = (j) => {
    local.asked = j;
    write();
  };
  const heads = COLUMNS.map((name) => el("th", { scope: "col" }, name));
  const corner = el("th", { scope: "col" });
  const lines = view.names.map((name, j) => line(name, j, choose));
  const score = note();
  const output = note();
  const write = () => {
    setText(score, scoreLine(local.now, local.asked));
    lines.forEach((one, j) => pressed(one.score, j === local.asked));
  };
  const table = grid([corner, heads], nodes(lines));
  const node = el("div", "asking", scroller("The chosen token asks each token", table), score, output);
  const show = (now) => {
    local.now = now;
    heads[SCALED].hidden = !now.scaled;
    setText(corner, `${now.names[now.token]} asks`);
    lines.forEach((one) => one.show(now));
    write();
    setText(output, outputLine(now));
  };
  return { node, show };
}

function line(name, j, choose) {
  const cells = COLUMNS.map(() => el("td"));
  const write = () => choose(j);
  const score = button("", write, { class: "part", onfocus: write, onpointerenter: write });
  const fill = bar();
  const value = el("span", "value");
  cells[2].append(score);
  mark(cells[4], "weight");
  cells[4].append(fill.node, value);
  const node = el("tr", {}, el("th", { scope: "row" }, name), cells);
  const show = (now) => {
    const i = now.token;
    const may = now.may[i * now.names.length + j];
    mark(node, "query", i === j);
    setText(cells[0], vector(now.vectors[j]));
    setText(cells[1], vector(now.k[j]));
    setText(score, plain(now.raw[i][j]));
    score.setAttribute("aria-label", scoreLine(now, j));
    setText(cells[SCALED], plain(now.ready[i][j]));
    cells[SCALED].hidden = !now.scaled;
    setText(value, may ? fixed(now.weights[i][j]) : "masked");
    fill.show(now.weights[i][j]);
    setText(cells[5], vector(now.v[j]));
  };
  return { node, show, score };
}

function scoreLine({ names, token, q, k, raw }, j) {
  const pair = `q(${names[token]}) · k(${names[j]})`;
  return `${pair} = ${products(q[token], k[j])} = ${plain(raw[token][j])}`;
}

function outputLine({ names, token, weights, v, output }) {
  const parts = weights[token].map((weight, j) => `${fixed(weight)}·${vector(v[j])}`);
  return `y(${names[token]}) = ${parts.join(" + ")} = ${vector(output[token], fixed)}`;
}

/** All scores and all weights, a row for each token that asks, and whether scores are symmetric. */
export function squares(view) {
  const raw = square(view, "scores q · k");
  const weight = square(view, "weights");
  const symmetry = el("p");
  const last = view.names.length - 1;
  const node = el(
    "div",
    {
      onkeydown: onKeys(({ key }) => {
        const change = { ArrowUp: -1, ArrowDown: 1 }[key];
        if (!change) return false;
        return view.store.set({ token: within(view.store.get("token") + change, last) });
      }),
    },
    el("div", "main", raw.node, weight.node),
    symmetry,
  );
  const show = (now) => {
    raw.show(now, (i, j) => ({ text: plain(now.raw[i][j]) }));
    weight.show(now, (i, j) => weightCell(now, i, j));
    setText(symmetry, symmetryLine(now));
  };
  return { node, show };
}

function weightCell({ weights, may, names }, i, j) {
  const tint = weights[i][j];
  if (!may[i * names.length + j]) return { text: "masked", tint };
  return { text: fixed(tint), tint, most: tint >= Math.max(...weights[i]) - 1e-9 };
}

function symmetryLine({ raw, names }) {
  const pair = lopsided(raw);
  if (!pair) return "The scores are symmetric: yes.";
  const { i, j } = pair;
  const way = (a, b) => `${names[a]} → ${names[b]} ${plain(raw[a][b])}`;
  return `The scores are symmetric: no (${way(i, j)}, ${way(j, i)}).`;
}

function square(view, name) {
  const { names, store } = view;
  const cells = names.map(() => names.map(() => el("td")));
  const rows = names.map((token, i) =>
    el("tr", { onclick: () => store.set({ token: i }) }, el("th", { scope: "row" }, token), cells[i]),
  );
  const node = keyed(
    `${name} of all tokens; up and down arrow keys choose a row`,
    grid(
      [name, ...names].map((text) => el("th", { scope: "col" }, text)),
      rows,
    ),
  );
  mark(node, "square");
  const show = (now, cell) =>
    rows.forEach((row, i) => {
      mark(row, "query", i === now.token);
      cells[i].forEach((one, j) => put(one, cell(i, j)));
    });
  return { node, show };
}

function put(node, { text, tint, most = false }) {
  setText(node, text);
  if (tint !== undefined) setVar(node, "w", tint.toFixed(3));
  mark(node, "most", most);
}
