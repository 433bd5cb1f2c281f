// Buttons that save a picture as PNG or SVG, and its numbers as CSV.

import { button, el } from "./dom.js";
import { csv, save } from "./files.js";
import { rowOf } from "./frame.js";
import { svgPen } from "./pens.js";
import { drawPicture, layout, measureWith } from "./picture.js";
import { onCanvas } from "./plot.js";
import { current } from "./row.js";

/** What is exported: the pinned row, or the whole matrix where none is pinned. @type {(view: any) => any} */
export function exported(view) {
  const what = current(view);
  if (what.pinned === null) return what;
  const { nK } = what.head;
  const i = what.pinned;
  return {
    ...what,
    pinned: null,
    head: rowOf(what.head, i),
    tokens: [what.tokens[i]],
    may: what.may.slice(i * nK, (i + 1) * nK),
  };
}

function placed(view, context) {
  const what = view.exported();
  const measure = measureWith(context, view.family);
  return { what, measure, at: layout({ width: 900, ...what, measure }) };
}

function savePng(view) {
  const canvas = el("canvas");
  const { what, measure, at } = placed(view, canvas.getContext("2d"));
  onCanvas(canvas, at, view.family, (pen) => drawPicture(pen, at, what, view.palette, measure), 2);
  canvas.toBlob((blob) => save("attention.png", blob), "image/png");
}

function saveSvg(view) {
  const { what, measure, at } = placed(view, view.canvas.getContext("2d"));
  const pen = svgPen(view.family);
  drawPicture(pen, at, what, view.palette, measure);
  save("attention.svg", pen.finish(at.width, at.height, "Attention weights"), "image/svg+xml");
}

/** The rows of the CSV file: those of what is exported. @type {(view: any) => (string|number)[][]} */
export function rows(view) {
  const { head, may, tokens, keyTokens } = exported(view);
  const cell = (at) => (may[at] ? head.weights[at] : "masked");
  return [
    ["query", ...keyTokens],
    ...tokens.map((token, i) => [token, ...keyTokens.map((_, j) => cell(i * head.nK + j))]),
  ];
}

const saveCsv = (view) => save("attention.csv", csv(view.rows()), "text/csv;charset=utf-8");

/** Buttons that save a view's picture, exported(), and its numbers, rows(). @type {(view: any) => any} */
export function actions(view) {
  const make = (name, run) => button(name, () => run(view), { "aria-label": `save as ${name}` });
  return el(
    "div",
    "actions",
    el("span", {}, "save as"),
    make("PNG", savePng),
    make("SVG", saveSvg),
    make("CSV", saveCsv),
  );
}
