// Heads side by side: a small map of each, a large one of those that the reader chooses, and for
// one query their weights as bars. Reads its state from the store and writes what the reader does.

import { button, el, setText, soon } from "./dom.js";
import { frame, makeHead, paint, readHeads } from "./frame.js";
import { actions, settings } from "./heatmap-controls.js";
import { barsFill, grid } from "./heads-grid.js";
import { rowBars } from "./heads-bars.js";
import { HINT, describe, describeRow, shownAs, told, twin } from "./heads-words.js";
import { divisor, mask, mean } from "./math.js";
import { attach, drawLarge, plot } from "./plot.js";
import { visible } from "./text.js";

export const data = ["tokens", "key_tokens", "names", "shape", "scores", "packed", "ranges", "d",
  "mask", "initial"];
export const state = ["chosen", "row", "head", "large", "temperature", "scaled", "causal"];
export const drawsTable = true;

const NOTE = "Each row is a query, the token that attends; each column a key, the token attended "
  + "to. “Over 1.4 keys” is e to the power of a row’s entropy: as undecided as an even choice "
  + "among so many.";

export function build(store) {
  const heads = readHeads(store);
  const view = {
    store,
    heads,
    mean: makeHead(null, heads[0].nQ, heads[0].nK),
    names: store.get("names").map(visible),
    tokens: store.get("tokens"),
    keyTokens: store.get("key_tokens"),
    cursor: null, // the cell under the pointer or the keyboard; each view has its own
    canvas: el("canvas", { "aria-hidden": "true" }),
    title: el("p", { class: "attnbook-title" }),
    status: el("p", { class: "attnbook-status", role: "status" }),
    side: el("div", { class: "attnbook-side" }),
    exported: () => exported(view),
    rows: () => rows(view),
  };
  view.redraw = soon(() => draw(view));
  view.draw = view.redraw;
  view.attach = (figure) => attach(view, figure);
  return arrange(view);
}

/** Make the parts, and put them in the order in which they are read. */
function arrange(view) {
  view.query = query(view);
  view.settings = settings(view.store, [reset(view)]);
  view.grid = grid(view);
  view.switch = largeSwitch(view);
  view.twin = twin(view);
  view.plot = plot(view, { pin: "row", label: "Large map" });
  view.node = el("div", {},
    view.settings.node, view.grid.node,
    el("div", { class: "attnbook-controls" }, view.switch.node, view.query.node), view.title,
    el("div", { class: "attnbook-main" }, view.plot, view.side),
    view.status,
    el("p", { class: "attnbook-note" }, NOTE),
    el("div", { class: "attnbook-foot" }, view.twin.node, actions(view)));
  return view;
}

function draw(view) {
  const { store, heads } = view;
  const width = view.node.clientWidth;
  if (!width) return; // not in the page, or folded away
  view.may = mask(heads[0].nQ, heads[0].nK, store.get("causal"), store.get("mask"));
  view.by = divisor(store.get("d"), store.get("scaled"), store.get("temperature"));
  frame(heads, { may: view.may, by: view.by, colours: view.ramp });
  const chosen = store.get("chosen");
  // with no head chosen, the average is that of all
  view.averaged = chosen.length ? chosen : heads.map((_, h) => h);
  mean(view.averaged.map((h) => heads[h].weights), view.mean.weights);
  paint(view.mean, view.may, view.ramp);
  view.settings.show();
  view.query.show();
  view.grid.show();
  view.switch.show();
  setText(view.title, shownAs(view).title);
  drawLarge(view, width, picture(view));
  rowBars(view);
  view.twin.show();
  say(view);
}

function say(view) {
  const row = view.store.get("row");
  if (view.cursor) setText(view.status, describe(view, view.cursor));
  else setText(view.status, row === null ? HINT : describeRow(view, row));
}

/** What the large map draws: one matrix, or several as bars in each cell. */
function picture(view) {
  const { heads } = shownAs(view);
  const { may, tokens, keyTokens, store } = view;
  const what = { head: heads[0], may, tokens, keyTokens, pinned: store.get("row") };
  return heads.length === 1 ? what : { ...what, fill: barsFill(view, heads) };
}

/** Saved is the whole large map, whether a row is pinned or not. */
const exported = (view) => ({ ...picture(view), cursor: null });

function rows(view) {
  const { corner, lines } = told(view);
  return [[corner, ...view.keyTokens], ...lines.map(({ name, weights, may }) =>
    [name, ...Array.from(weights, (weight, j) => (may[j] ? weight : "masked"))])];
}

/** The query whose row is pinned, for those who would rather choose than point. */
function query({ store, tokens }) {
  const change = () => store.set({ row: choose.selectedIndex ? choose.selectedIndex - 1 : null });
  const choose = el("select", { onchange: change },
    ["none", ...tokens.map(visible)].map((name) => el("option", {}, name)));
  const node = el("label", { class: "attnbook-choose" }, el("span", {}, "query"), choose);
  return { node, show: () => { choose.selectedIndex = (store.get("row") ?? -1) + 1; } };
}

function reset(view) {
  return button("reset", () => {
    view.settings.complain("");
    view.store.set(view.store.get("initial"));
    view.redraw();
  }, { "aria-label": "reset to the first picture" });
}

const LARGE = { one: "one head", chosen: "the chosen heads", average: "their average" };

function largeSwitch({ store }) {
  const buttons = Object.entries(LARGE).map(([name, text]) =>
    [name, button(text, () => store.set({ large: name }))]);
  const node = el("div", {
    class: "attnbook-large", role: "group", "aria-label": "what the large map shows",
  }, buttons.map(([, node]) => node));
  const show = () => buttons.forEach(([name, node]) =>
    node.setAttribute("aria-pressed", String(name === store.get("large"))));
  return { node, show };
}
