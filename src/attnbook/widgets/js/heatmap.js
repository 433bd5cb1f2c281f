// The heat map: reads its state from the store, draws, and writes what the reader does.

import { el, setText, soon } from "./dom.js";
import { actions, drawHeads, exported, headStrip, rows, settings } from "./heatmap-controls.js";
import { current, describe, describeRow, rowBars, twin } from "./heatmap-words.js";
import { frame, readHeads } from "./frame.js";
import { divisor, mask } from "./math.js";
import { attach, drawLarge, plot } from "./plot.js";

export const data = ["tokens", "key_tokens", "shape", "scores", "packed", "ranges", "d", "mask"];
export const drawsTable = true;
export const state = ["temperature", "scaled", "causal", "pinned", "head"];

const HINT = "Click a cell, or use the arrow keys and Enter, to pin its row; Escape lets go.";

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
    exported: () => exported(view),
    rows: () => rows(view),
  };
  view.redraw = soon(() => draw(view));
  view.settings = settings(store);
  view.strip = headStrip(view);
  view.twin = twin(view);
  view.plot = plot(view, { pin: "pinned", label: "Attention weights" });
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
  drawLarge(view, width, current(view));
  rowBars(view);
  view.twin.show();
  say(view);
}

function say(view) {
  const { cursor, store } = view;
  const pinned = store.get("pinned");
  if (cursor) setText(view.status, describe(view, cursor));
  else setText(view.status, pinned === null ? HINT : describeRow(view, pinned));
}
