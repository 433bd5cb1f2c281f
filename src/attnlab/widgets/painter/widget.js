// The mask painter: the reader paints who may attend to whom, and sees what follows.

import { times } from "../core/maths/lists.js";
import { divisor, rowAt } from "../core/maths/nn.js";
import { el, note, onKeys, setText, twin } from "../core/view/dom.js";
import { measureWith } from "../core/view/picture.js";
import { drawn, mapKeys, onCanvas, point, say, togglePin, under } from "../core/view/plot.js";
import { presets, settings, showSwitch } from "./controls.js";
import { filledWeights, gradient } from "./maths.js";
import { drawMask, drawValues, placed, withSums } from "./picture.js";
import { alarm, asCode, cells, describe, describeRow, explain } from "./words.js";

const data = ["tokens", "key_tokens", "shape", "scores", "d", "length", "initial"];
const state = ["mask", "fill", "scaled", "temperature", "pinned", "show"];

const HINT =
  "Press or drag in the mask to paint it. With keys: arrows move, Space turns a cell " +
  "round, Shift and an arrow paint on, Enter pins a row and Escape lets it go.";

function build(store) {
  const [nQ, nK] = store.get("shape");
  const view = drawn(
    {
      store,
      pin: "pinned",
      nQ,
      nK,
      tokens: store.get("tokens"),
      keyTokens: store.get("key_tokens"),
      brush: null, // while the pointer is down: what it paints, and the cell it came from
      alarm: el("p", { class: "alarm", role: "status" }),
      note: note(),
      code: el("code"),
      title: el("b"),
    },
    draw,
  );
  view.written = note("The mask as code: ", view.code);
  view.settings = settings(view);
  view.presets = presets(view);
  view.switch = showSwitch(store);
  view.twin = twin("What follows from the mask, as a table", () => cells(view));
  view.plot = maskPlot(view);
  view.following = valuesPlot(view);
  view.node = el(
    "div",
    {},
    view.settings.node,
    view.presets.node,
    el(
      "div",
      "main",
      panel([el("b", {}, "mask"), " (1 = may attend)"], view.plot),
      panel([view.title, view.switch.node], view.following),
    ),
    view.status,
    view.alarm,
    view.note,
    view.written,
    el("div", "foot", view.twin.node),
  );
  return view;
}

const panel = (head, plot) => el("div", "panel", el("p", "panelhead", head), plot);

function draw(view, width) {
  const { store, nQ, nK } = view;
  view.may = Uint8Array.from(store.get("mask"));
  view.by = divisor(store.get("d"), store.get("scaled"), store.get("temperature"));
  view.weights = filledWeights(store.get("scores"), nQ, nK, view.may, view.by, store.get("fill"));
  view.flow = gradient(view.weights, view.may);
  view.steep = store.get("show") === "gradient";
  view.values = view.steep ? view.flow : view.weights;
  view.sums = view.tokens.map((_, i) => rowAt(view.values, i, nK).reduce((sum, value) => sum + value, 0));
  for (const part of [view.settings, view.presets, view.switch, view.twin]) part.show();
  drawBoth(view, width);
  write(view);
}

function drawBoth(view, width) {
  const { palette, family, tokens, keyTokens } = view;
  const [mask, values] = [view.plot.firstChild, view.following.firstChild];
  const measure = measureWith(mask.getContext("2d"), family);
  view.at = placed({ width, tokens, keyTokens, measure });
  const focused = document.activeElement === view.plot;
  const what = { ...view, pinned: view.store.get("pinned"), focused };
  for (const [canvas, size, paint] of [
    [mask, view.at, drawMask],
    [values, withSums(view.at), drawValues],
  ]) {
    onCanvas(canvas, size, family, (pen) => paint(pen, view.at, what, palette, measure));
  }
}

function write(view) {
  say(view, { describe, describeRow, HINT });
  setText(view.alarm, alarm(view));
  setText(view.note, explain(view));
  setText(view.code, asCode(view));
  view.written.hidden = !view.code.textContent;
  setText(view.title, view.steep ? "gradient" : "weights");
}

/** The cell under the pointer; on a row's label its j is −1. */
function cellUnder(view, event, canvas) {
  const cell = under(view, canvas, event, view.nQ, view.nK);
  const x = event.clientX - canvas.getBoundingClientRect().left;
  return cell && x < view.at.left ? { ...cell, j: -1 } : cell;
}

const move = (view, cell) => point(view, cell?.j >= 0 ? cell : null);

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
  return times(steps + 1, (step) => ({ i: between(from.i, to.i, step), j: between(from.j, to.j, step) }));
}

/** The mask: it takes pointer and keys. */
function maskPlot(view) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const under = (event) => cellUnder(view, event, canvas);
  return el(
    "div",
    {
      class: "plot paint",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "mask to paint",
      "aria-label":
        "Mask: who may attend to whom. Arrow keys move from cell to cell, Space turns a " +
        "cell round, Shift and an arrow carry its value on, Enter pins the row, Escape lets it go.",
      onpointerdown: (event) => press(view, event, under(event)),
      onpointermove(event) {
        const cell = under(event);
        if (view.brush) stroke(view, cell);
        if (view.brush || event.pointerType !== "touch") move(view, cell);
      },
      onlostpointercapture: () => {
        view.brush = null;
      },
      // a finger that is lifted leaves too, and what it did should still be read
      onpointerleave: (event) => event.pointerType !== "touch" && move(view, null),
      onkeydown: keys(view),
      onfocus: view.redraw,
      onblur: () => move(view, null),
    },
    canvas,
  );
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

const keys = (view) =>
  onKeys((event) =>
    mapKeys(view, event, {
      nQ: view.nQ,
      nK: view.nK,
      passed: (from, to) => paint(view, way(from, to), valueAt(view, from)),
      turned(cell) {
        paint(view, [cell], 1 - valueAt(view, cell));
        move(view, cell);
      },
    }),
  );

/** What follows: a click pins a row, as Enter does in the mask. */
function valuesPlot(view) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const under = (event) => cellUnder(view, event, canvas);
  return el(
    "div",
    {
      class: "plot",
      onpointermove: (event) => event.pointerType !== "touch" && move(view, under(event)),
      onpointerleave: () => move(view, null),
      onclick(event) {
        const cell = under(event);
        if (cell) togglePin(view, cell.i);
      },
    },
    canvas,
  );
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "A mask and its weights", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
