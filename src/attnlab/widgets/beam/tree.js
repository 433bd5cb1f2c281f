// The search as a tree: a column for each word, its candidates from the most probable down, and a
// line from each to the hypothesis that it continues.

import { path } from "../core/maths/beam.js";
import { within } from "../core/maths/lists.js";
import { button, el, onKeys, scroller, svg, mark as toggle } from "../core/view/dom.js";
import { KEYS } from "../core/view/plot.js";
import { fixed, visible } from "../core/view/text.js";
import { drawn, fate } from "./words.js";

const COLUMN = 124;
const ROW = 48;
const BOX = 44;
const START = 56; // the width of the first box
const GAP = 24; // for the lines
const [HEAD, CUT] = [26, 22]; // above the candidates, and above those that are pruned

const left = (n) => START + (n - 1) * COLUMN + GAP;
const put = (x, y) => `left:${x}px;top:${y}px`;
const top = (kept, place) => HEAD + place * ROW + (place < kept ? 0 : CUT);

/** The tree; `mark` is called with a candidate's {n, place}, or null. */
export function tree(view, mark) {
  const start = el("span", "start", "start");
  const [dropped, kept, marked] = ["dropped", "kept", "marked"].map((name) => svg("path", name));
  const lines = svg("svg", "links", dropped, kept, marked);
  const inner = el("div", { class: "tree", onkeydown: onKeys(({ key }) => move(view, key)) });
  const node = scroller("The search as a tree; arrow keys move from candidate to candidate", inner);
  const trace = (shape, found) => shape.setAttribute("d", found.map((one) => link(view, one)).join(""));
  const show = () => {
    const written = view.now.steps.slice(0, view.step);
    const rows = Math.max(1, ...written.map((step) => drawn(step).length));
    const [all, now] = [view.now.steps.length, view.step].map((n) => left(n + 1));
    inner.style = `--all:${all}px;--now:${now}px;height:${top(0, rows)}px`;
    view.boxes = written.map((step, before) =>
      drawn(step).map((_, place) => box(view, { n: before + 1, place }, mark)),
    );
    inner.replaceChildren(lines, start, ...labels(view), ...view.boxes.flat());
    trace(
      kept,
      written.flatMap((step) => step.kept),
    );
    trace(
      dropped,
      written.flatMap((step) => drawn(step).slice(step.kept.length)),
    );
    // a long search is wider than the page: it opens at its beginning, and new words come into sight
    if (view.seen !== undefined && view.seen !== view.step) node.scrollLeft = left(view.step + 1) - node.clientWidth;
    view.seen = view.step;
  };
  /** Show one path strongly. */
  const light = (found) => {
    trace(marked, found);
    view.boxes.flat().forEach((one) => toggle(one, "best", found.includes(one.candidate)));
  };
  return { node, show, light };
}

/** What stands above the candidates of each word, and above those of them that are pruned. */
function labels({ now: { steps }, step }) {
  const label = (text, n, y) => el("span", { class: n > step ? "later" : null, style: put(left(n), y) }, text);
  return steps.flatMap(({ all, kept }, before) => {
    const out = before < step ? all.length - kept.length : 0;
    return [
      label(`word ${before + 1}`, before + 1, 0),
      ...(out ? [label(`pruned: ${out}`, before + 1, top(0, kept.length) - CUT)] : []),
    ];
  });
}

/** Where a candidate stands: its word's number, its place, and how many are kept there. */
function stand({ now }, one) {
  const n = path(one).length;
  const { all, kept } = now.steps[n - 1];
  return { n, y: top(kept.length, all.indexOf(one)) + BOX / 2 };
}

function link(view, one) {
  const { n, y } = stand(view, one);
  const from = n > 1 ? stand(view, one.before).y : HEAD + BOX / 2;
  return `M${left(n) - GAP} ${from}L${left(n)} ${y}`;
}

/** A candidate: its last word, log p of all its words, and that word's probability. */
function box(view, at, mark) {
  const step = view.now.steps[at.n - 1];
  const one = step.all[at.place];
  const stays = at.place < step.kept.length;
  const on = () => mark(at);
  const node = button("", on, {
    style: put(left(at.n), top(step.kept.length, at.place)),
    title: fate(view, step, at.place),
    class: stays ? `kept${one.word === view.eos ? " over" : ""}` : null,
    tabindex: at.n === view.step && !at.place ? "0" : "-1",
    onfocus: on,
    onpointerenter: on,
    onblur: () => mark(null),
    onpointerleave: () => mark(null),
  });
  node.append(
    el("b", "token", visible(view.names[one.word])),
    `${fixed(one.logP, 2)} (p ${fixed(Math.exp(one.log), 2)})`,
  );
  node.candidate = one;
  return node;
}

/** Arrow keys; the right one writes the next word where the tree ends. */
function move(view, key) {
  if (!view.cursor || !KEYS[key]) return false;
  const { i, j } = KEYS[key]({ i: view.cursor.place, j: view.cursor.n });
  const last = Math.min(view.now.steps.length, view.step + (key === "ArrowRight"));
  const n = Math.max(1, Math.min(last, j));
  if (n > view.step) view.store.set({ step: n });
  const column = view.boxes[n - 1];
  return column[within(i, column.length - 1)].focus();
}
