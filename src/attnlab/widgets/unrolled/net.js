// The network as a funnel: the words that are read, each in the colour of its place; s₀, number by
// number, the throat; and the words that are written. How much colour one has is its probability,
// so that an unsure word is pale; a right one has the colour of the word that it should be.

import { times } from "../core/maths/lists.js";
import { el, grid, keyed, mark, setVar, svg } from "../core/view/dom.js";
import { fixed } from "../core/view/text.js";
import { summary } from "./vector.js";

const DECIMALS = 2; // the columns stay narrow; the status has the third
const THROAT = 3; // how many columns of words s₀ is wide

export function net(view) {
  const readers = keyed("what is read; left and right arrow keys move");
  const writer = keyed("what is written; left and right arrow keys move");
  const [into, out] = [cone(true), cone(false)];
  const between = summary(view, view.d);
  const node = el("div", "net", readers, into.node, between.node, out.node, writer);
  const show = (now) => {
    readers.replaceChildren(reading(view, now));
    between.show(now);
    writer.replaceChildren(writing(view, now));
    into.show(now.n, now.n);
    out.show(Math.max(writer.querySelectorAll("thead th").length - 1, THROAT), now.n);
    setVar(node, "left", throat(now.n));
    [readers, writer].forEach(follow);
  };
  return { node, show };
}

/** How many columns stand left of s₀, below the middle of n words. */
const throat = (n) => Math.max(0, (n - THROAT) / 2);

/** One half of the funnel, between s₀ and so many columns of words. */
function cone(down) {
  const side = svg("polygon", {});
  const node = svg("svg", { class: "cone", preserveAspectRatio: "none", "aria-hidden": "true" }, side);
  const show = (columns, n) => {
    const [wide, narrow, left] = down ? [0, 10, throat(n)] : [10, 0, throat(n)];
    node.setAttribute("viewBox", `0 0 ${columns} 10`);
    side.setAttribute("points", `0,${wide} ${columns},${wide} ${left + THROAT},${narrow} ${left},${narrow}`);
    setVar(node, "columns", columns);
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

/** A cell that leads to its step. */
function cell(view, step, text, tag = "td") {
  const node = el(tag, { onclick: () => view.go(step) }, text);
  if (tag === "th") node.scope = "col";
  if (view.now.step === step) mark(node, "now");
  return node;
}

const line = (cells) => el("tr", {}, cells.flat());
const head = (text, scope = "row") => el("th", { scope }, text);

/** Give a word the colour of its place among n, as much of it as it is sure. */
function colour(node, place, n, sure = 1) {
  mark(node, "chip");
  setVar(node, "hue", Math.round(25 + (300 * place) / n));
  setVar(node, "sure", sure.toFixed(3));
  return node;
}

/** Which reader is at a word just now. */
const at = ({ step, n }, i) => (step === i ? "→" : "") + (step === n - 1 - i ? "←" : "");

function reading(view, now) {
  const { words, n } = now;
  return grid(
    [head("reads", "col"), words.map((word, i) => colour(cell(view, i, word, "th"), i, n))],
    [line([el("td"), words.map((_, i) => el("td", {}, at(now, i)))])],
  );
}

/** A word that was forced stands in brackets. */
const marked = (view, t, id) => (view.now.forced[t] === undefined ? view.names[id] : `[${view.names[id]}]`);

function writing(view, { n, t, step, last, steps, right }) {
  const so = steps.slice(0, Math.max(0, t)); // how long it gets is not given away
  const lacking = right && step === last ? right.slice(so.length) : []; // it ended too early
  const columns = (text) => so.map((one, place) => el("td", {}, text(one, place)));
  const judged = so.map(({ word, p }, place) => {
    const node = cell(view, n + place + 1, marked(view, place + 1, word));
    if (!right) return colour(node, place, so.length, p[word]);
    const good = view.names[word] === right[place];
    node.append(good ? "✓" : "×");
    mark(node, good ? "right" : "off");
    return good && place < n ? colour(node, n - 1 - place, n, p[word]) : node;
  });
  return grid(
    [
      head("step", "col"),
      times(so.length + lacking.length, (place) => cell(view, Math.min(n + place + 1, last), `${place + 1}`, "th")),
    ],
    [
      [head("writes"), judged, lacking.map(() => el("td", "off", "–×"))],
      right && [
        head("should write"),
        columns((_, place) => right[place] ?? "–"),
        lacking.map((one) => el("td", {}, one)),
      ],
      [head("probability"), columns(({ p, word }) => fixed(p[word], DECIMALS))],
    ]
      .filter(Boolean)
      .map(line),
  );
}

/** An index in small figures. */
export const low = (index) => String(index).replace(/\d/g, (digit) => String.fromCharCode(0x2080 + Number(digit)));
