// The heat map in words and numbers: the status line, the pinned row's bars, the table.

import { button, el, scroller, setText, table } from "./dom.js";
import { fixed, plain, visible } from "./text.js";

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
  const best = entries(view, i).filter(({ may }) => may).sort((a, b) => b.weight - a.weight);
  const named = best.slice(0, 3).map(({ token, weight }) => `${token} ${fixed(weight)}`);
  const list = named.length ? named.join(", ") : "nothing: every key is masked";
  return `${headName(view)}${visible(view.tokens[i])} is pinned; it attends most to ${list}.`;
}

function bar({ token, weight, may }) {
  const fill = el("span", { class: "attnbook-bar" }, el("span", {}));
  fill.firstChild.style.width = `${100 * weight}%`;
  return el("li", {}, el("span", { class: "attnbook-token" }, token), fill,
    el("span", { class: "attnbook-value" }, may ? fixed(weight) : "masked"));
}

/** The pinned row as bars; redrawn whole, as it is a dozen lines. */
export function rowBars(view) {
  const i = view.store.get("pinned");
  if (i === null) return view.side.replaceChildren();
  const all = entries(view, i);
  const rest = view.keyTokens.length - all.length;
  const others = 1 - all.reduce((sum, { weight }) => sum + weight, 0);
  // the button stays the same element, so that it keeps the keyboard's focus
  view.unpin ??= button("let go", () => {
    view.store.set({ pinned: null });
    view.plot.focus();
  });
  const title = el("p", {}, el("b", {}, visible(view.tokens[i])), " attends to");
  const together = fixed(Math.max(0, others));
  const more = rest > 0 ? el("p", {}, `and ${rest} more, ${together} together`) : "";
  const list = el("ol", {}, all.map(bar));
  const rowTop = el("div", { class: "attnbook-sidehead" }, title);
  const focused = document.activeElement === view.unpin;
  view.side.replaceChildren(rowTop, list, more);
  rowTop.append(view.unpin);
  if (focused) view.unpin.focus();
  return undefined;
}

function cells(view) {
  const head = now(view);
  return view.tokens.map((token, i) => [visible(token), ...view.keyTokens.map((_, j) => {
    const at = i * head.nK + j;
    return view.may[at] ? fixed(head.weights[at]) : "masked";
  })]);
}

/** The table twin: made when it is first opened, kept up to date while open. */
export function twin(view) {
  const node = el("details", { class: "attnbook-twin", ontoggle: () => show() },
    el("summary", {}, "the same as a table"));
  let body = null;
  const show = () => {
    if (!node.open) return;
    const rows = cells(view);
    if (body) return void fill(body, rows);
    const drawn = table(["query", ...view.keyTokens.map(visible)], rows);
    body = drawn.tBodies[0];
    node.append(scroller("Attention weights as a table", drawn));
  };
  return { node, show };
}

function fill(body, rows) {
  rows.forEach((row, i) => row.forEach((text, j) => setText(body.rows[i].cells[j], text)));
}
