// The mask painter: the reader paints who may attend to whom, and sees what follows.

import { el, setText, soon } from "./dom.js";
import { divisor, filledWeights, gradient } from "./math.js";
import { presets, settings, showSwitch } from "./painter-controls.js";
import { drawMask, drawValues, placed, withSums } from "./painter-picture.js";
import { alarm, asCode, describeCell, describeRow, explain, twin } from "./painter-words.js";
import { canvasPen } from "./pens.js";
import { cellAt, measureWith, sizeCanvas } from "./picture.js";
import { attach, KEYS } from "./plot.js";

export const data = ["tokens", "key_tokens", "shape", "scores", "d", "length", "initial"];
export const state = ["mask", "fill", "scaled", "temperature", "pinned", "show"];
export const drawsTable = true;

const HINT = "Click or drag in the mask to paint it. With keys: arrows move, Space turns a cell "
  + "round, Shift and an arrow paint on, Enter pins a row and Escape lets it go.";

export function build(store) {
  const [nQ, nK] = store.get("shape");
  const view = {
    store, nQ, nK, tokens: store.get("tokens"), keyTokens: store.get("key_tokens"),
    cursor: null, // the cell under the pointer or the keyboard; each view has its own
    brush: null, // while the pointer is down: what it paints, and the cell it came from
    status: el("p", { class: "attnbook-status", role: "status" }),
    alarm: el("p", { class: "attnbook-alarm", role: "status" }),
    note: el("p", { class: "attnbook-note" }),
    code: el("code", {}),
    title: el("b", {}),
  };
  view.written = el("p", { class: "attnbook-note" }, "The mask as code: ", view.code);
  view.redraw = soon(() => draw(view));
  view.draw = view.redraw;
  view.settings = settings(view);
  view.presets = presets(view);
  view.switch = showSwitch(store);
  view.twin = twin(view);
  view.plot = maskPlot(view);
  view.following = valuesPlot(view);
  view.node = el("div", {}, view.settings.node, view.presets.node,
    el("div", { class: "attnbook-main" },
      panel([el("b", {}, "mask"), " (1 = may attend)"], view.plot),
      panel([view.title, view.switch.node], view.following)),
    view.status, view.alarm, view.note,
    view.written,
    el("div", { class: "attnbook-foot" }, view.twin.node));
  view.attach = (figure) => attach(view, figure);
  return view;
}

const panel = (head, plot) =>
  el("div", { class: "attnbook-panel" }, el("p", { class: "attnbook-panelhead" }, head), plot);

function draw(view) {
  const { store, nQ, nK } = view;
  const width = view.node.clientWidth;
  if (!width) return; // not in the page, or folded away
  view.may = Uint8Array.from(store.get("mask"));
  view.by = divisor(store.get("d"), store.get("scaled"), store.get("temperature"));
  view.weights = filledWeights(store.get("scores"), nQ, nK, view.may, view.by, store.get("fill"));
  view.flow = gradient(view.weights, view.may);
  view.steep = store.get("show") === "gradient";
  view.values = view.steep ? view.flow : view.weights;
  view.sums = view.tokens.map((_, i) => view.values.subarray(i * nK, (i + 1) * nK)
    .reduce((sum, value) => sum + value, 0));
  for (const part of [view.settings, view.presets, view.switch, view.twin]) part.show();
  drawBoth(view, width);
  say(view);
}

function drawBoth(view, width) {
  const { palette, family } = view;
  const measure = measureWith(view.plot.firstChild.getContext("2d"), family);
  view.at = placed({ width, tokens: view.tokens, keyTokens: view.keyTokens, measure });
  const focused = document.activeElement === view.plot;
  const what = { ...view, pinned: view.store.get("pinned"), focused };
  const drawings = [
    [view.plot.firstChild, view.at, drawMask],
    [view.following.firstChild, withSums(view.at), drawValues],
  ];
  const dense = window.devicePixelRatio || 1;
  for (const [canvas, at, paint] of drawings) {
    const context = canvas.getContext("2d");
    sizeCanvas(canvas, at, dense);
    context.setTransform(dense, 0, 0, dense, 0, 0);
    paint(canvasPen(context, family), view.at, what, palette, measure);
  }
}

function say(view) {
  const pinned = view.store.get("pinned");
  if (view.cursor) setText(view.status, describeCell(view, view.cursor));
  else setText(view.status, pinned === null ? HINT : describeRow(view, pinned));
  setText(view.alarm, alarm(view));
  setText(view.note, explain(view));
  setText(view.code, asCode(view));
  view.written.hidden = !view.code.textContent;
  setText(view.title, view.steep ? "gradient" : "weights");
}

/** The cell under the pointer; on a row's label its j is −1. */
function cellUnder(view, { clientX, clientY }, canvas) {
  if (!view.at) return null; // nothing is drawn yet
  const box = canvas.getBoundingClientRect();
  const cell = cellAt(view.at, view.nQ, view.nK, clientX - box.left, clientY - box.top);
  return cell && clientX - box.left < view.at.left ? { ...cell, j: -1 } : cell;
}

function move(view, cell) {
  const to = cell && cell.j >= 0 ? cell : null;
  if (to?.i === view.cursor?.i && to?.j === view.cursor?.j) return;
  view.cursor = to;
  view.redraw();
}

function togglePin(view, i) {
  view.store.set({ pinned: view.store.get("pinned") === i ? null : i });
}

/** Give cells of the mask a value; nothing is written where nothing changes. */
function paint(view, cells, value) {
  const mask = [...view.store.get("mask")];
  for (const { i, j } of cells) mask[i * view.nK + j] = value;
  if (mask.some((one, at) => one !== view.store.get("mask")[at])) view.store.set({ mask });
}

const valueAt = (view, { i, j }) => Number(view.store.get("mask")[i * view.nK + j]);

/** The cells on the straight way from one to another: a fast hand skips some. */
function way(from, to) {
  const steps = Math.max(Math.abs(to.i - from.i), Math.abs(to.j - from.j), 1);
  const between = (a, b, step) => Math.round(a + ((b - a) * step) / steps);
  return Array.from({ length: steps + 1 }, (_, step) =>
    ({ i: between(from.i, to.i, step), j: between(from.j, to.j, step) }));
}

/** The mask: it takes pointer and keys. */
function maskPlot(view) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const under = (event) => cellUnder(view, event, canvas);
  return el("div", {
    class: "attnbook-plot attnbook-paint", tabindex: "0", role: "application",
    "aria-roledescription": "mask to paint",
    "aria-label": "Mask: who may attend to whom. Arrow keys move from cell to cell, Space turns a "
      + "cell round, Shift and an arrow carry its value on, Enter pins the row, Escape lets it go.",
    onpointerdown: (event) => press(view, event, under(event)),
    onpointermove(event) {
      const cell = under(event);
      if (view.brush) stroke(view, cell);
      if (view.brush || event.pointerType !== "touch") move(view, cell);
    },
    onlostpointercapture: () => { view.brush = null; },
    // a finger that is lifted leaves too, and what it did should still be read
    onpointerleave: (event) => event.pointerType !== "touch" && move(view, null),
    onkeydown: (event) => key(view, event),
    onfocus: () => view.redraw(),
    onblur: () => move(view, null),
  }, canvas);
}

function press(view, event, cell) {
  if (event.button || !event.isPrimary || !cell) return;
  if (cell.j < 0) return void togglePin(view, cell.i);
  view.brush = { value: 1 - valueAt(view, cell), last: cell };
  view.plot.setPointerCapture(event.pointerId);
  paint(view, [cell], view.brush.value);
  move(view, cell);
}

function stroke(view, cell) {
  if (!cell || cell.j < 0) return;
  paint(view, way(view.brush.last, cell), view.brush.value);
  view.brush.last = cell;
}

function key(view, event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const here = view.cursor ?? { i: view.store.get("pinned") ?? 0, j: 0 };
  if (KEYS[event.key]) {
    const next = view.cursor ? step(view, KEYS[event.key](here)) : here;
    if (event.shiftKey) paint(view, way(here, next), valueAt(view, here));
    move(view, next);
  } else if (event.key === " ") {
    paint(view, [here], 1 - valueAt(view, here));
    move(view, here);
  } else if (event.key === "Enter") togglePin(view, here.i);
  else if (event.key === "Escape") view.store.set({ pinned: null });
  else return;
  event.preventDefault();
  event.stopPropagation(); // JupyterLab would take Enter and the arrows for its cells
}

const step = ({ nQ, nK }, { i, j }) =>
  ({ i: Math.max(0, Math.min(nQ - 1, i)), j: Math.max(0, Math.min(nK - 1, j)) });

/** What follows: a click pins a row, as Enter does in the mask. */
function valuesPlot(view) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const under = (event) => cellUnder(view, event, canvas);
  return el("div", {
    class: "attnbook-plot",
    onpointermove: (event) => event.pointerType !== "touch" && move(view, under(event)),
    onpointerleave: () => move(view, null),
    onclick(event) {
      const cell = under(event);
      if (cell) togglePin(view, cell.i);
    },
  }, canvas);
}
