// One role of the token: its vector beside the matrix, row by row, and the product beneath.

import { times } from "../core/maths/lists.js";
import { identity } from "../core/maths/nn.js";
import { button, el, forgive, grid, mark, nodes, note, pressed, setText, setVar } from "../core/view/dom.js";
import { factor, plain } from "../core/view/text.js";

const low = (number) => String.fromCharCode(0x2080 + number); // ₁, ₂, ₃, ₄

/** "2·1 + (−1)·0": the products that a dot product adds up. */
export const products = (a, b) => a.map((x, r) => `${factor(x)}·${factor(b[r])}`).join(" + ");

export function block(view, { letter, upper, name, matrix }) {
  const rows = view.store.get("initial")[matrix];
  const width = rows[0].length;
  const local = { column: 0, now: null }; // whose sum is written out; each view has its own
  const line = note();
  const choose = (column) => {
    local.column = column;
    write();
  };
  const lines = rows.map((_, r) => entries(view, { upper, matrix, r, width, choose }));
  const result = components(width, choose);
  const write = () => {
    setVar(node, "wide", longest(local.now[matrix]));
    [...lines, result].forEach((one) => one.show(local, letter, matrix));
    setText(line, sum(local, letter, matrix));
  };
  const node = el(
    "div",
    { class: `of-${name}`, role: "group", "aria-label": `${name}: ${letter} = x W^${upper}` },
    title(view, { letter, upper, name, matrix, rows }),
    grid(
      [el("th", { scope: "col" }, "x"), el("th", { scope: "colgroup", colspan: width }, big(upper))],
      nodes(lines),
      el("tfoot", {}, result.row(letter)),
    ),
    line,
  );
  const show = (now) => {
    local.now = now;
    write();
  };
  return { node, show };
}

/** The letters of the longest number: the style sheet makes all boxes as wide. */
const longest = (rows) => Math.max(...rows.flat().map((value) => plain(value).length));

const big = (upper) => ["W", el("sup", {}, upper)];

function title(view, { letter, upper, name, matrix, rows }) {
  const [height, width] = [rows.length, rows[0].length];
  const says = height === width ? "identity" : "ones on the diagonal";
  const put = button(
    "identity",
    () => {
      forgive(put.closest("[role=group]"));
      view.alert.tell("");
      view.store.set({ [matrix]: identity(height, width) });
      view.draw(); // the very numbers that are there still have to come back into the boxes
    },
    { "aria-label": `set W^${upper} to the identity`, title: says },
  );
  return el("div", "sidehead", el("span", {}, el("b", {}, name), ` ${letter} = x `, big(upper)), put);
}

/** One row of the matrix, and before it the number of x that it is multiplied by. */
function entries(view, { upper, matrix, r, width, choose }) {
  const head = el("th", { scope: "row" });
  const boxes = times(width, (c) => {
    const one = view.box(`W^${upper}, row ${r + 1}, column ${c + 1}`, matrix, r, c);
    one.node.addEventListener("focus", () => choose(c));
    return one;
  });
  const cells = boxes.map(({ node }) => el("td", "component", node));
  const show = ({ column, now }) => {
    setText(head, plain(now.vectors[now.token][r]));
    boxes.forEach((one) => one.show(now));
    cells.forEach((cell, c) => mark(cell, "lit", c === column));
  };
  return { node: el("tr", {}, head, cells), show };
}

/** The product's numbers, each a button that writes its sum out. */
function components(width, choose) {
  const buttons = times(width, (c) => {
    const show = () => choose(c);
    return button("", show, { class: "part", onfocus: show, onpointerenter: show });
  });
  const row = (letter) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, el("b", {}, letter)),
      buttons.map((one) => el("td", {}, one)),
    );
  const show = ({ column, now }, letter, matrix) =>
    buttons.forEach((one, c) => {
      setText(one, plain(now[letter][now.token][c]));
      one.setAttribute("aria-label", sum({ column: c, now }, letter, matrix));
      pressed(one, c === column);
    });
  return { row, show };
}

/** "q₁ = 2·1 + (−1)·0 + 0·1 = 2", the dot product of x with one column. */
function sum({ column, now }, letter, matrix) {
  const x = now.vectors[now.token];
  const down = now[matrix].map((row) => row[column]);
  const value = plain(now[letter][now.token][column]);
  return `${letter}${low(column + 1)} = ${products(x, down)} = ${value}`;
}
