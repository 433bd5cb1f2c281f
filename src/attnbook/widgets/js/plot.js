// A large map of weights as a part of a view: it follows theme and width, is drawn on a canvas,
// and takes pointer and keys. The view has store, heads, canvas, node, cursor and redraw.

import { el } from "./dom.js";
import { canvasPen } from "./pens.js";
import { cellAt, drawPicture, layout, measureWith, sizeCanvas } from "./picture.js";
import { colours, ramp, watchTheme } from "./theme.js";

/** Start following the page's theme and the width there is; returns what stops it. */
export function attach(view, figure) {
  view.figure = figure;
  const recolour = () => {
    view.palette = colours(figure);
    view.ramp = ramp(view.palette);
    view.family = getComputedStyle(figure).fontFamily;
    view.redraw();
  };
  recolour();
  const unwatch = watchTheme(recolour);
  const observer = new ResizeObserver(view.redraw);
  observer.observe(view.node);
  return () => {
    unwatch();
    observer.disconnect();
    view.redraw.cancel();
  };
}

/** Draw the large map, at most `width` wide; `what` is as drawPicture takes it. */
export function drawLarge(view, width, what) {
  const context = view.canvas.getContext("2d");
  const measure = measureWith(context, view.family);
  view.at = layout({ width, tokens: what.tokens, keyTokens: what.keyTokens, measure });
  const dense = window.devicePixelRatio || 1;
  sizeCanvas(view.canvas, view.at, dense);
  context.setTransform(dense, 0, 0, dense, 0, 0);
  const marked = { ...what, cursor: view.cursor, focused: document.activeElement === view.plot };
  drawPicture(canvasPen(context, view.family), view.at, marked, view.palette, measure);
}

/** The part that takes pointer and keys; `pin` is the trait that holds the pinned row. */
export function plot(view, { pin, label }) {
  const toggle = (i) => view.store.set({ [pin]: view.store.get(pin) === i ? null : i });
  const point = ({ clientX, clientY }) => {
    if (!view.at) return null; // nothing is drawn yet
    const box = view.canvas.getBoundingClientRect();
    const { nQ, nK } = view.heads[0];
    return cellAt(view.at, nQ, nK, clientX - box.left, clientY - box.top);
  };
  const move = (cell) => {
    if (cell?.i === view.cursor?.i && cell?.j === view.cursor?.j) return;
    view.cursor = cell;
    view.redraw();
  };
  return el("div", {
    class: "attnbook-plot", tabindex: "0", role: "application",
    "aria-roledescription": "heat map",
    "aria-label": `${label}. Arrow keys move from cell to cell, Home and End go to the ends of a `
      + "row, Enter pins the row, Escape lets it go.",
    onpointermove: (event) => event.pointerType !== "touch" && move(point(event)),
    onpointerleave: () => move(null),
    onclick: (event) => {
      const cell = point(event);
      if (cell) toggle(cell.i);
      move(cell);
    },
    onkeydown: (event) => press(view, event, { pin, move, toggle }),
    onfocus: () => view.redraw(),
    onblur: () => move(null),
  }, view.canvas);
}

export const KEYS = {
  ArrowUp: ({ i, j }) => ({ i: i - 1, j }),
  ArrowDown: ({ i, j }) => ({ i: i + 1, j }),
  ArrowLeft: ({ i, j }) => ({ i, j: j - 1 }),
  ArrowRight: ({ i, j }) => ({ i, j: j + 1 }),
  Home: ({ i }) => ({ i, j: 0 }),
  End: ({ i }) => ({ i, j: Infinity }),
};

function press(view, event, { pin, move, toggle }) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const { nQ, nK } = view.heads[0];
  const start = { i: view.store.get(pin) ?? 0, j: 0 };
  const within = (value, count) => Math.max(0, Math.min(count - 1, value));
  if (KEYS[event.key]) {
    const next = view.cursor ? KEYS[event.key](view.cursor) : start;
    move({ i: within(next.i, nQ), j: within(next.j, nK) });
  } else if (event.key === "Enter" || event.key === " ") toggle((view.cursor ?? start).i);
  else if (event.key === "Escape") view.store.set({ [pin]: null });
  else return;
  event.preventDefault();
  event.stopPropagation(); // JupyterLab would take Enter and the arrows for its cells
}
