// The heat map in words and numbers: the status line, the pinned row's bars, the table.

import { bar, el } from "./dom.js";
import { rowAt } from "./math.js";
import { rowSide } from "./plot.js";
import { fixed, heaviest, plain, visible } from "./text.js";

const BARS = 12; // of a longer row only the largest weights get a bar

const headName = (view) => (view.heads.length > 1 ? `head ${view.store.get("head")}: ` : "");

const now = (view) => view.heads[view.store.get("head")];

/** What is drawn now: the chosen head and everything said about it. */
export function current(view) {
  const { store, tokens, keyTokens } = view;
  return { head: now(view), may: view.may, tokens, keyTokens, pinned: store.get("pinned") };
}

/** One cell: "nuts → bowl 0.090 (score 5, scaled 2.887)". */
export function describe(view, { i, j }) {
  const head = now(view);
  const at = i * head.nK + j;
  const names = `${headName(view)}${visible(view.tokens[i])} → ${visible(view.keyTokens[j])}`;
  if (!view.may[at]) return `${names}: masked`;
  const { store } = view;
  const score = head.scores[at];
  const root = store.get("scaled") ? Math.sqrt(store.get("d")) : 1;
  const said = [`score ${plain(score)}`];
  if (root !== 1) said.push(`scaled ${plain(score / root)}`);
  if (store.get("temperature") !== 1) said.push(`divided by temperature ${plain(score / view.by)}`);
  return `${names} ${fixed(head.weights[at])} (${said.join(", ")})`;
}

/** The keys of row i, in order or, where there are many, the heaviest first. */
function entries(view, i) {
  const head = now(view);
  const all = view.keyTokens.map((token, j) => {
    const at = i * head.nK + j;
    return { token: visible(token), weight: head.weights[at], may: view.may[at] };
  });
  if (all.length <= BARS) return all;
  return all.filter(({ may }) => may).sort((a, b) => b.weight - a.weight).slice(0, BARS);
}

export function describeRow(view, i) {
  const { weights, nK } = now(view);
  const most = heaviest(view.keyTokens, rowAt(weights, i, nK), (j) => view.may[i * nK + j]);
  return `${headName(view)}${visible(view.tokens[i])} is pinned; it attends most to ${
    most || "nothing: every key is masked"}.`;
}

function line({ token, weight, may }) {
  const fill = bar();
  fill.show(weight);
  return el("li", {}, el("span", "token", token), fill.node,
    el("span", "value", may ? fixed(weight) : "masked"));
}

/** The pinned row as bars; redrawn whole, as it is a dozen lines. */
export function rowBars(view) {
  const i = view.store.get("pinned");
  if (i === null) return view.side.replaceChildren();
  const all = entries(view, i);
  const rest = view.keyTokens.length - all.length;
  const others = 1 - all.reduce((sum, { weight }) => sum + weight, 0);
  return rowSide(view, el("ol", {}, all.map(line)),
    rest > 0 && `and ${rest} more, ${fixed(Math.max(0, others))} together`);
}

/** All weights, as the texts of a table. */
export function cells(view) {
  const { may, tokens, keyTokens } = view;
  const { weights, nK } = now(view);
  return [["query", ...keyTokens.map(visible)], ...tokens.map((token, i) => [visible(token),
    ...keyTokens.map((_, j) => (may[i * nK + j] ? fixed(weights[i * nK + j]) : "masked"))])];
}
