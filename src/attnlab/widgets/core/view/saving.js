// Buttons that save a picture as SVG, a map of weights as PNG too, and its numbers as CSV.

import { button, el } from "./dom.js";
import { csv, save } from "./files.js";
import { rowOf } from "./frame.js";
import { drawPicture, layout, measureWith } from "./picture.js";
import { onCanvas } from "./plot.js";
import { current } from "./row.js";
import { oneStop } from "./stop.js";
import { savePicture } from "./svg.js";

/** @import { Store } from "../types.d.ts" */

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

function savePng(view) {
  const canvas = el("canvas");
  const what = view.exported();
  const measure = measureWith(canvas.getContext("2d"), view.family);
  const at = layout({ width: 900, ...what, measure });
  onCanvas(canvas, at, view.family, (pen) => drawPicture(pen, at, what, view.palette, measure), 2);
  canvas.toBlob((blob) => save("attention.png", blob), "image/png");
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

const svgButton = (store, text) =>
  button(text, ({ target }) => savePicture(target.closest("figure"), store.get("kind")), {
    "aria-label": "save as SVG",
  });

/** Buttons that are one stop of the Tab key; in the book's page the licence of what they save, too. */
function toolbar(label, buttons, ...before) {
  const { content_root: root } = document.documentElement.dataset;
  const about = { href: `${root}book/credits.html#licence`, "aria-label": "licence: CC BY 4.0" };
  const all = root === undefined ? buttons : [...buttons, el("a", about, "CC BY 4.0")];
  const node = el("div", { class: "actions", role: "toolbar", "aria-label": label }, before, all);
  oneStop(node, all);
  return node;
}

/** Buttons that save a view's picture, the map of what is exported(), and its numbers, rows(). @type {(view: any) => any} */
export function actions(view) {
  const make = (name, run) => button(name, () => run(view), { "aria-label": `save as ${name}` });
  const buttons = [make("PNG", savePng), svgButton(view.store, "SVG"), make("CSV", saveCsv)];
  return toolbar("save as", buttons, el("span", {}, "save as"));
}

/**
 * Let a picture be saved as SVG where it has no such button yet: below it, where the picture comes
 * first, as one stop of the Tab key with the button that resets it.
 * @type {(node: HTMLElement, store: Store) => void}
 */
export function savable(node, store) {
  const again = node.querySelector(".attnbook-reset");
  if (!again || node.querySelector('[aria-label="save as SVG"]')) return; // what is loaded later has its own
  const below = node.querySelector(":scope > .attnbook-foot") ?? node;
  below.append(toolbar("this picture", [again, svgButton(store, "save as SVG")]));
}
