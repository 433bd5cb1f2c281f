// Heads side by side: a small map of each, a large one of those that the reader chooses, and for
// one query their weights as bars. Reads its state from the store and writes what the reader does.

import { mean } from "../core/maths/nn.js";
import { masking, settings } from "../core/view/controls.js";
import { button, choice, el, note, pressed, reset, setText, twin } from "../core/view/dom.js";
import { makeHead, paint, readHeads, weigh } from "../core/view/frame.js";
import { drawLarge, drawn, plot, say } from "../core/view/plot.js";
import { actions } from "../core/view/saving.js";
import { visible } from "../core/view/text.js";
import { rowBars } from "./bars.js";
import { barsFill, grid } from "./grid.js";
import { cells, describe, describeRow, HINT, shownAs, told } from "./words.js";

const data = ["tokens", "key_tokens", "names", "shape", "scores", "packed", "ranges", "d", "mask", "initial", "folded"];
const state = ["chosen", "row", "head", "large", "temperature", "scaled", "causal"];

const NOTE = "Each row is a query, the token that attends; each column a key, the token attended to.";
const SPREAD = " “Over 1.4 keys”: as undecided as an even choice among so many.";

function build(store) {
  const heads = readHeads(store);
  const view = drawn(
    {
      store,
      pin: "row",
      heads,
      mean: makeHead(null, heads[0].nQ, heads[0].nK),
      names: store.get("names").map(visible),
      tokens: store.get("tokens"),
      keyTokens: store.get("key_tokens"),
      title: el("p", "title"),
      side: el("div", "side"),
      exported: () => exported(view),
      rows: () => rows(view),
    },
    draw,
  );
  return arrange(view);
}

/** Make the parts, and put them in the order in which they are read. */
function arrange(view) {
  view.query = query(view);
  view.settings = settings(view, [masking(view.store)], reset(view, "picture"));
  view.grid = grid(view);
  view.switch = largeSwitch(view);
  view.note = note(NOTE);
  view.twin = twin("Attention weights as a table", () => cells(view));
  view.plot = plot(view, "Large map");
  const main = [view.title, el("div", "main", view.plot, view.side)];
  const large = view.store.get("folded")
    ? [el("div", "controls", view.query.node), fold(view, view.switch.node, ...main)]
    : [el("div", "controls", view.switch.node, view.query.node), ...main];
  view.node = el(
    "div",
    {},
    view.settings.node,
    view.grid.node,
    large,
    view.status,
    view.note,
    el("div", "foot", view.twin.node, actions(view)),
  );
  return view;
}

function fold(view, ...parts) {
  const summary = el("summary", {}, "the large map, with bars");
  view.fold = el("details", { class: "twin", ontoggle: () => view.redraw() }, summary, parts);
  return view.fold;
}

function draw(view, width) {
  const { store, heads } = view;
  weigh(view);
  const chosen = store.get("chosen");
  // with no head chosen, the average is that of all
  view.averaged = chosen.length ? chosen : heads.map((_, h) => h);
  mean(
    view.averaged.map((h) => heads[h].weights),
    view.mean.weights,
  );
  paint(view.mean, view.may, view.ramp);
  for (const part of [view.settings, view.query, view.grid, view.switch]) part.show();
  setText(view.title, shownAs(view).title);
  setText(view.note, store.get("row") === null ? NOTE + SPREAD : NOTE);
  drawLarge(view, width, picture(view));
  rowBars(view);
  view.twin.show();
  say(view, { describe, describeRow, HINT });
}

/** What the large map draws: one matrix, or several as bars in each cell. */
function picture(view) {
  const { heads } = shownAs(view);
  const { may, tokens, keyTokens, store } = view;
  const what = { head: heads[0], may, tokens, keyTokens, pinned: store.get("row") };
  return heads.length === 1 ? what : { ...what, between: view.palette.line, fill: barsFill(view, heads) };
}

/** Saved is the whole large map, whether a row is pinned or not. */
const exported = (view) => ({ ...picture(view), cursor: null });

function rows(view) {
  const { corner, lines } = told(view);
  return [
    [corner, ...view.keyTokens],
    ...lines.map(({ name, weights, may }) => [
      name,
      ...Array.from(weights, (weight, j) => (may[j] ? weight : "masked")),
    ]),
  ];
}

/** The query whose row is pinned, for those who would rather choose than point. */
function query({ store, tokens }) {
  const choose = choice("query", ["none", ...tokens.map(visible)], (place) =>
    store.set({ row: place ? place - 1 : null }),
  );
  return { node: choose.node, show: () => choose.show((store.get("row") ?? -1) + 1) };
}

const LARGE = { one: "one head", chosen: "the chosen heads", average: "their average" };

function largeSwitch({ store }) {
  const buttons = Object.entries(LARGE).map(([name, text]) => [name, button(text, () => store.set({ large: name }))]);
  const node = el(
    "div",
    { class: "large", role: "group", "aria-label": "what the large map shows" },
    buttons.map(([, node]) => node),
  );
  const show = () => buttons.forEach(([name, node]) => pressed(node, name === store.get("large")));
  return { node, show };
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Attention heads", build, data, state, drawsTable: true };
