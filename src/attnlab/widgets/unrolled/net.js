// The network, unrolled: a column for each word that is read, then s₀, number by number, then a
// column for each word that is written. A state's norm stands in its cell and fills it from below.

import { el, grid, keyed, mark, setVar } from "../core/view/dom.js";
import { fixed } from "../core/view/text.js";
import { summary } from "./vector.js";

const DECIMALS = 2; // the columns stay narrow; the status has the third

export function net(view) {
  const readers = keyed("the two readers; left and right arrow keys move");
  const writer = keyed("the decoder; left and right arrow keys move");
  const both = [readers, writer];
  const between = summary(view, view.d);
  const node = el("div", "net", readers, between.node, writer);
  const show = (now) => {
    readers.replaceChildren(reading(view, now));
    between.show(now);
    writer.replaceChildren(writing(view, now));
    both.forEach(follow);
  };
  return { node, show };
}

/** Bring the present column into its box, without moving the page. */
function follow(box) {
  const cell = box.querySelector(".attnbook-now");
  if (!cell) return;
  const [row] = cell.parentNode.children; // the row's heading stays in sight
  const first = cell.offsetLeft - row.offsetWidth;
  const end = cell.offsetLeft + cell.offsetWidth - box.clientWidth;
  box.scrollLeft = Math.min(first, Math.max(box.scrollLeft, end));
}

/** A cell that leads to its step; before that step it is empty. */
function cell(view, { step, text, norm = 0, tag = "td" }) {
  const { now } = view;
  const node = el(tag, { onclick: () => view.go(step) }, now.step >= step ? text : "·");
  if (tag === "th") node.scope = "col";
  if (now.step === step) mark(node, "now");
  if (norm && now.step >= step) setVar(node, "h", `${(100 * norm) / now.most}%`);
  return node;
}

const line = (cells) => el("tr", {}, cells.flat());
const head = (text, scope = "row") => el("th", { scope }, text);

function state(view, step, norm) {
  return cell(view, { step, norm, text: fixed(norm, DECIMALS) });
}

function reading(view, { words, n, norms }) {
  return grid(
    [head("readers", "col"), words.map((word, i) => el("th", { scope: "col", onclick: () => view.go(i) }, word))],
    [
      [head("→ state’s norm"), norms.forward.map((norm, i) => state(view, i, norm))],
      [head("← state’s norm"), norms.backward.map((norm, i) => state(view, n - 1 - i, norm))],
    ].map(line),
  );
}

/** A word that was forced stands in brackets. */
const marked = (view, t, id) => (view.now.forced[t] === undefined ? view.names[id] : `[${view.names[id]}]`);

function writing(view, { n, t, steps, norms }) {
  const so = steps.slice(0, Math.max(0, t)); // how long it gets is not given away
  const columns = (text) => so.map((one, place) => cell(view, { step: n + place + 1, text: text(one, place) }));
  return grid(
    [
      head("decoder", "col"),
      head("s₀", "col"),
      so.map((_, place) => el("th", { scope: "col", onclick: () => view.go(n + place + 1) }, `s${low(place + 1)}`)),
    ],
    [
      [head("reads"), el("td"), columns(({ reads }, place) => marked(view, place, reads))],
      [head("state’s norm"), norms.decoder.slice(0, so.length + 1).map((norm, place) => state(view, n + place, norm))],
      [head("writes"), el("td"), columns(({ word }, place) => marked(view, place + 1, word))],
      [head("probability"), el("td"), columns(({ p, word }) => fixed(p[word], DECIMALS))],
    ].map(line),
  );
}

/** An index in small figures. */
export const low = (index) => String(index).replace(/\d/g, (digit) => String.fromCharCode(0x2080 + Number(digit)));
