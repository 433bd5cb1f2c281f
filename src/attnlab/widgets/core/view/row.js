// What a map of weights shows now, and its pinned row as bars.

import { bar, el } from "./dom.js";
import { rowSide } from "./plot.js";
import { fixed, visible } from "./text.js";

/** @import { Head } from "../types.d.ts" */

const BARS = 12; // of a longer row only the largest weights get a bar

/** The head that is large. @type {(view: any) => Head} */
export const shownHead = (view) => view.heads[view.store.get("head")];

/**
 * What is drawn now: the chosen head and everything said about it.
 * @type {(view: any) => {head: Head, may: Uint8Array, tokens: string[], keyTokens: string[], pinned: number|null}}
 */
export function current(view) {
  const { store, tokens, keyTokens } = view;
  return { head: shownHead(view), may: view.may, tokens, keyTokens, pinned: store.get("pinned") };
}

/** The keys of row i, in order or, where there are many, the heaviest first. */
function entries(view, i) {
  const head = shownHead(view);
  const all = view.keyTokens.map((token, j) => {
    const at = i * head.nK + j;
    return { token: visible(token), weight: head.weights[at], may: view.may[at] };
  });
  if (all.length <= BARS) return all;
  return all
    .filter(({ may }) => may)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, BARS);
}

function line({ token, weight, may }) {
  const fill = bar();
  fill.show(weight);
  return el("li", {}, el("span", "token", token), fill.node, el("span", "value", may ? fixed(weight) : "masked"));
}

/** The pinned row as bars; redrawn whole, as it is a dozen lines. @type {(view: any) => void} */
export function rowBars(view) {
  const i = view.store.get("pinned");
  if (i === null) return view.side.replaceChildren();
  const all = entries(view, i);
  const rest = view.keyTokens.length - all.length;
  const others = 1 - all.reduce((sum, { weight }) => sum + weight, 0);
  return rowSide(
    view,
    el("ol", {}, all.map(line)),
    rest > 0 && `and ${rest} more, ${fixed(Math.max(0, others))} together`,
  );
}
