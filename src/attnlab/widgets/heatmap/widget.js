// The heat map: reads its state from the store, draws, and writes what the reader does.

import { settings } from "../core/view/controls.js";
import { el, note, twin } from "../core/view/dom.js";
import { readHeads, weigh } from "../core/view/frame.js";
import { drawLarge, drawn, plot, say } from "../core/view/plot.js";
import { current, rowBars } from "../core/view/row.js";
import { actions, exported, rows } from "../core/view/saving.js";
import { drawHeads, headStrip } from "./strip.js";
import { cells, describe, describeRow } from "./words.js";

const data = ["tokens", "key_tokens", "shape", "scores", "packed", "ranges", "d", "mask"];
const state = ["temperature", "scaled", "causal", "pinned", "head"];

const HINT = "Press a cell, or use the arrow keys and Enter, to pin its row; Escape lets go.";

function build(store) {
  const view = drawn(
    {
      store,
      pin: "pinned",
      heads: readHeads(store),
      tokens: store.get("tokens"),
      keyTokens: store.get("key_tokens"),
      side: el("div", "side"),
      exported: () => exported(view),
      rows: () => rows(view),
    },
    draw,
  );
  view.settings = settings(view);
  view.strip = headStrip(view);
  view.twin = twin("Attention weights as a table", () => cells(view));
  view.plot = plot(view, "Attention weights");
  view.node = el(
    "div",
    {},
    view.settings.node,
    view.strip?.node,
    el("div", "main", view.plot, view.side),
    view.status,
    note(
      "Each row is a query, the token that attends; each column " +
        "a key, the token attended to. A row’s weights sum to 1.",
    ),
    el("div", "foot", view.twin.node, actions(view)),
  );
  return view;
}

function draw(view, width) {
  weigh(view);
  view.settings.show();
  drawHeads(view);
  drawLarge(view, width, current(view));
  rowBars(view);
  view.twin.show();
  say(view, { describe, describeRow, HINT });
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Attention weights", build, data, state, drawsTable: true };
