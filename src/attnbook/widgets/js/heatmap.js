// The heat map: reads its state from the store, draws, and writes what the reader does.

import { el, setText, soon } from "./dom.js";
import { actions, drawHeads, headStrip, settings } from "./heatmap-controls.js";
import { current, describe, describeRow, rowBars, twin } from "./heatmap-words.js";
import { frame, makeHead } from "./frame.js";
import { dequantise, divisor, mask } from "./math.js";
import { canvasPen } from "./pens.js";
import { cellAt, drawPicture, layout, measureWith, sizeCanvas } from "./picture.js";
import { colours, ramp, watchTheme } from "./theme.js";

export const data = ["tokens", "key_tokens", "shape", "scores", "packed", "ranges", "d", "mask"];
export const drawsTable = true;
export const state = ["temperature", "scaled", "causal", "pinned", "head"];

const HINT = "Click a cell, or use the arrow keys and Enter, to pin its row; Escape lets go.";

/** All heads, from whichever form the numbers came in. */
function readHeads(store) {
  const [, nQ, nK] = store.get("shape");
  const heads = store.get("scores")
    ?? dequantise(store.get("packed"), store.get("ranges"), nQ * nK);
  return heads.map((scores) => makeHead(Float64Array.from(scores), nQ, nK));
}

export function build(store) {
  const view = {
    store,
    heads: readHeads(store),
    tokens: store.get("tokens"),
    keyTokens: store.get("key_tokens"),
    cursor: null, // the cell under the pointer or the keyboard; each view has its own
    canvas: el("canvas", { "aria-hidden": "true" }),
    status: el("p", { class: "attnbook-status", role: "status" }),
    side: el("div", { class: "attnbook-side" }),
  };
  view.redraw = soon(() => draw(view));
  view.settings = settings(store);
  view.strip = headStrip(view);
  view.twin = twin(view);
  view.plot = plot(view);
  view.node = el("div", {},
    view.settings.node, view.strip?.node,
    el("div", { class: "attnbook-main" }, view.plot, view.side),
    view.status,
    el("p", { class: "attnbook-note" }, "Each row is a query, the token that attends; each column "
      + "a key, the token attended to. A row’s weights sum to 1."),
    el("div", { class: "attnbook-foot" }, view.twin.node, actions(view)));
  view.draw = view.redraw;
  view.attach = (figure) => attach(view, figure);
  return view;
}

/** Start following the page's theme and the width there is; returns what stops it. */
function attach(view, figure) {
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

function draw(view) {
  const { store, heads } = view;
  const width = view.node.clientWidth;
  if (!width) return; // not in the page, or folded away
  const given = store.get("mask");
  view.may = mask(heads[0].nQ, heads[0].nK, store.get("causal"), given);
  view.by = divisor(store.get("d"), store.get("scaled"), store.get("temperature"));
  frame(heads, { may: view.may, by: view.by, colours: view.ramp });
  view.settings.show();
  drawHeads(view);
  drawMain(view, width);
  rowBars(view);
  view.twin.show();
  say(view);
}

function drawMain(view, width) {
  const context = view.canvas.getContext("2d");
  const measure = measureWith(context, view.family);
  view.at = layout({ width, tokens: view.tokens, keyTokens: view.keyTokens, measure });
  const dense = window.devicePixelRatio || 1;
  sizeCanvas(view.canvas, view.at, dense);
  context.setTransform(dense, 0, 0, dense, 0, 0);
  const focused = document.activeElement === view.plot;
  const what = { ...current(view), cursor: view.cursor, focused };
  drawPicture(canvasPen(context, view.family), view.at, what, view.palette, measure);
}

function say(view) {
  const { cursor, store } = view;
  const pinned = store.get("pinned");
  if (cursor) setText(view.status, describe(view, cursor));
  else setText(view.status, pinned === null ? HINT : describeRow(view, pinned));
}

/** The part that takes pointer and keys. */
function plot(view) {
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
    "aria-label": "Attention weights. Arrow keys move from cell to cell, Home and End go to the "
      + "ends of a row, Enter pins the row, Escape lets it go.",
    onpointermove: (event) => event.pointerType !== "touch" && move(point(event)),
    onpointerleave: () => move(null),
    onclick: (event) => {
      const cell = point(event);
      if (cell) togglePin(view, cell.i);
      move(cell);
    },
    onkeydown: (event) => press(view, event, move),
    onfocus: () => view.redraw(),
    onblur: () => move(null),
  }, view.canvas);
}

function togglePin(view, i) {
  view.store.set({ pinned: view.store.get("pinned") === i ? null : i });
}

const KEYS = {
  ArrowUp: ({ i, j }) => ({ i: i - 1, j }),
  ArrowDown: ({ i, j }) => ({ i: i + 1, j }),
  ArrowLeft: ({ i, j }) => ({ i, j: j - 1 }),
  ArrowRight: ({ i, j }) => ({ i, j: j + 1 }),
  Home: ({ i }) => ({ i, j: 0 }),
  End: ({ i }) => ({ i, j: Infinity }),
};

function press(view, event, move) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const { nQ, nK } = view.heads[0];
  const start = { i: view.store.get("pinned") ?? 0, j: 0 };
  const within = (value, count) => Math.max(0, Math.min(count - 1, value));
  if (KEYS[event.key]) {
    const next = view.cursor ? KEYS[event.key](view.cursor) : start;
    move({ i: within(next.i, nQ), j: within(next.j, nK) });
  } else if (event.key === "Enter" || event.key === " ") togglePin(view, (view.cursor ?? start).i);
  else if (event.key === "Escape") view.store.set({ pinned: null });
  else return;
  event.preventDefault();
  event.stopPropagation(); // JupyterLab would take Enter and the arrows for its cells
}
