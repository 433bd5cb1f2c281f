// A large map of weights as a part of a view: it follows theme and width, is drawn on a canvas,
// and takes pointer and keys. The view has store, heads, canvas, node, cursor, redraw, and in `pin`
// the name of the trait that holds the pinned row.

import { within } from "../maths/lists.js";
import { button, el, mark, onKeys, setText, soon, statusLine } from "./dom.js";
import { canvasPen } from "./pens.js";
import { cellAt, drawPicture, layout, measureWith, sizeCanvas } from "./picture.js";
import { visible } from "./text.js";
import { colours, ramp, watchTheme } from "./theme.js";

/** @import { Cell, Pen, View } from "../types.d.ts" */

/**
 * A view whose `draw` needs the width there is; what it is made of is in `parts`.
 * @param {Record<string, any>} parts
 * @param {(view: View, width: number) => void} draw
 * @returns {any} a View, and `parts`
 */
export function drawn(parts, draw) {
  /** @type {any} */
  const view = {
    cursor: null, // the cell under the pointer or the keyboard; each view has its own
    status: statusLine(),
    canvas: el("canvas", { "aria-hidden": "true" }),
    ...parts,
  };
  view.redraw = soon(() => {
    const width = view.node.clientWidth; // 0: not in the page, or folded away
    if (width) draw(view, width);
  });
  view.draw = view.redraw;
  view.attach = (figure) => attach(view, figure);
  return view;
}

/**
 * Start following the page's theme and the width there is; returns what stops it.
 * @type {(view: View, figure: HTMLElement) => () => void}
 */
export function attach(view, figure) {
  const recolour = () => {
    view.palette = colours(figure);
    view.ramp = ramp(view.palette);
    view.family = getComputedStyle(figure).fontFamily;
    view.redraw();
  };
  const print = () => {
    recolour();
    view.redraw.now(); // paper waits for no frame
  };
  recolour();
  const unwatch = watchTheme(recolour);
  window.addEventListener("beforeprint", print);
  figure.addEventListener("attnbook-recolour", print); // svg.js reads it at once
  document.fonts.addEventListener("loadingdone", view.redraw); // a page's own font may come late
  const observer = new ResizeObserver(view.redraw);
  observer.observe(view.node);
  return () => {
    unwatch();
    window.removeEventListener("beforeprint", print);
    figure.removeEventListener("attnbook-recolour", print);
    document.fonts.removeEventListener("loadingdone", view.redraw);
    observer.disconnect();
    view.redraw.cancel();
  };
}

/** What was last drawn on a canvas, and by what: for a file. @type {WeakMap<HTMLCanvasElement, {at: {width: number}, draw: (pen: Pen) => void}>} */
export const painted = new WeakMap();

/**
 * Draw on a canvas with `dense` pixels of its own to each of the page's.
 * @param {HTMLCanvasElement} canvas
 * @param {{width: number, height: number}} at
 * @param {string} family
 * @param {(pen: Pen) => void} draw
 * @param {number} [dense]
 */
export function onCanvas(canvas, at, family, draw, dense = window.devicePixelRatio || 1) {
  const context = canvas.getContext("2d");
  sizeCanvas(canvas, at, dense);
  context.setTransform(dense, 0, 0, dense, 0, 0);
  draw(canvasPen(context, family));
  painted.set(canvas, { at, draw });
}

/** Draw on top of what is drawn. @type {(canvas: HTMLCanvasElement, family: string, draw: (pen: Pen) => void) => void} */
export function drawOver(canvas, family, draw) {
  const { at, draw: below } = painted.get(canvas);
  draw(canvasPen(canvas.getContext("2d"), family));
  painted.set(canvas, {
    at,
    draw: (pen) => {
      below(pen);
      draw(pen);
    },
  });
}

/**
 * Draw the large map, at most `width` wide; `what` is as drawPicture takes it.
 * @type {(view: View, width: number, what: any) => void}
 */
export function drawLarge(view, width, what) {
  const { canvas, cursor, family, palette } = view;
  const measure = measureWith(canvas.getContext("2d"), family);
  view.at = layout({ width, ...what, measure });
  const marked = { ...what, cursor, focused: document.activeElement === view.plot };
  onCanvas(canvas, view.at, family, (pen) => drawPicture(pen, view.at, marked, palette, measure));
}

/**
 * The cell of a drawn map under a pointer, or null.
 * @type {(view: any, canvas: HTMLCanvasElement, event: any, nQ: number, nK: number) => Cell|null}
 */
export function under({ at }, canvas, { clientX, clientY }, nQ, nK) {
  if (!at) return null; // nothing is drawn yet
  const { left, top } = canvas.getBoundingClientRect();
  return cellAt(at, nQ, nK, clientX - left, clientY - top);
}

/** The cell under the pointer or the keyboard is another one. @type {(view: View, cell: Cell|null) => void} */
export function point(view, cell) {
  if (cell?.i === view.cursor?.i && cell?.j === view.cursor?.j) return;
  view.cursor = cell;
  view.redraw();
}

/** @type {(view: any) => number|null} */
export const pinned = ({ store, pin }) => store.get(pin);

/** Pin a row, or let it go where it is pinned. @type {(view: View, i: number) => void} */
export const togglePin = (view, i) => view.store.set({ [view.pin]: pinned(view) === i ? null : i });

/** The part that takes pointer and keys. @type {(view: View, label: string) => any} */
export function plot(view, label) {
  const { nQ, nK } = view.heads[0];
  const find = (event) => under(view, view.canvas, event, nQ, nK);
  const move = (cell) => point(view, cell);
  return el(
    "div",
    {
      class: "plot",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "heat map",
      "aria-label":
        `${label}. Arrow keys move from cell to cell, Home and End go to the ends of a ` +
        "row, Enter pins the row, Escape lets it go.",
      onpointermove: (event) => event.pointerType !== "touch" && move(find(event)),
      onpointerleave: () => move(null),
      onclick: (event) => {
        const cell = find(event);
        if (cell) togglePin(view, cell.i);
        move(cell);
      },
      onkeydown: onKeys((event) => mapKeys(view, event, { nQ, nK })),
      onfocus: view.redraw,
      onblur: () => move(null),
    },
    view.canvas,
  );
}

export const KEYS = {
  ArrowUp: ({ i, j }) => ({ i: i - 1, j }),
  ArrowDown: ({ i, j }) => ({ i: i + 1, j }),
  ArrowLeft: ({ i, j }) => ({ i, j: j - 1 }),
  ArrowRight: ({ i, j }) => ({ i, j: j + 1 }),
  Home: ({ i }) => ({ i, j: 0 }),
  End: ({ i }) => ({ i, j: Infinity }),
};

/**
 * Keys of a map; `passed` is told of each way between two cells, `turned` of Space on a cell.
 * @param {View} view
 * @param {any} event
 * @param {{nQ: number, nK: number, passed?: (from: Cell, to: Cell) => void, turned?: (cell: Cell) => void}} map
 * @returns {boolean}
 */
export function mapKeys(view, { key, shiftKey }, { nQ, nK, passed, turned }) {
  const here = view.cursor ?? { i: pinned(view) ?? 0, j: 0 };
  if (KEYS[key]) {
    const { i, j } = view.cursor ? KEYS[key](here) : here;
    const next = { i: within(i, nQ - 1), j: within(j, nK - 1) };
    if (shiftKey) passed?.(here, next);
    point(view, next);
  } else if (key === " " && turned) turned(here);
  else if (key === "Enter" || key === " ") togglePin(view, here.i);
  else if (key === "Escape") view.store.set({ [view.pin]: null });
  else return false;
  return true;
}

/**
 * The status line: the cell pointed at, the pinned row, or a hint.
 * @param {View} view
 * @param {{describe: (view: any, cell: Cell) => string, describeRow: (view: any, row: number) => string, HINT: string}} words
 */
export function say(view, { describe, describeRow, HINT }) {
  const row = pinned(view);
  mark(view.status, "hint", !view.cursor && row === null);
  setText(view.status, view.cursor ? describe(view, view.cursor) : row === null ? HINT : describeRow(view, row));
}

/**
 * Beside the map: the pinned row's bars, as items of a list, and what is left over.
 * @type {(view: View, list: any, more?: any) => void}
 */
export function rowSide(view, list, more) {
  const { side } = view;
  // stays where it is while the rest is made anew: a button that is taken out between press and
  // release is never clicked, and loses the keyboard's focus
  view.sidehead ??= el(
    "div",
    "sidehead",
    el("p", {}, el("b"), " attends to"),
    button("let go", () => {
      view.store.set({ [view.pin]: null });
      view.plot.focus();
    }),
  );
  setText(view.sidehead.querySelector("b"), visible(view.tokens[pinned(view)]));
  if (view.sidehead.parentNode !== side) side.replaceChildren(view.sidehead);
  while (view.sidehead.nextSibling) view.sidehead.nextSibling.remove();
  side.append(list, more ? el("p", {}, more) : "");
}
