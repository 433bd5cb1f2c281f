// The search as a tree: a column for each word, its candidates from the most probable down, and a
// line from each to the hypothesis that it continues. On a phone each word has a row, read downwards.

import { path } from "../core/maths/beam.js";
import { within } from "../core/maths/lists.js";
import { button, el, onKeys, scroller, svg, mark as toggle } from "../core/view/dom.js";
import { KEYS } from "../core/view/plot.js";
import { fixed, visible } from "../core/view/text.js";
import { drawn, fate } from "./words.js";

const COLUMN = 124;
const ROW = 48;
const [WIDE, HIGH] = [100, 44]; // a candidate
const START = 56; // the width of the first box
const GAP = 24; // for the lines
const [HEAD, CUT] = [26, 22]; // above the candidates, and above those that are pruned

const NARROW = 450; // with less room than this words go downwards
const [NAME, LEAST, TALL] = [48, 74, 64]; // there: a row's name, and a candidate with its margin
const TURNED = { ArrowUp: "ArrowLeft", ArrowDown: "ArrowRight", ArrowLeft: "ArrowUp", ArrowRight: "ArrowDown" };

const left = (n) => START + (n - 1) * COLUMN + GAP;
const put = (x, y) => `left:${x}px;top:${y}px`;
const top = (kept, place) => HEAD + place * ROW + (place < kept ? 0 : CUT);

/** A column for each word; what is pruned stands below what is kept. */
function across({ now: { steps }, step }) {
  const rows = Math.max(1, ...steps.slice(0, step).map((one) => drawn(one).length));
  const [all, now] = [steps.length, step].map((n) => left(n + 1));
  return {
    start: [0, HEAD, START],
    size: [WIDE, HIGH],
    style: `--all:${all}px;--now:${now}px;height:${top(0, rows)}px`,
    shown: drawn,
    at: (n, place) => [left(n), top(steps[n - 1].kept.length, place)],
    out: ([x, y, width]) => [x + width, y + HIGH / 2],
    into: ([x, y]) => [x, y + HIGH / 2],
    name: (n) => [left(n), 0],
    cut: (n) => [left(n), top(0, steps[n - 1].kept.length) - CUT],
  };
}

/** A row for each word, or more; what is pruned is shown of the last one alone, where no line leads on. */
function down({ now: { steps }, step }, width) {
  const side = Math.max(1, Math.floor((width - NAME) / LEAST));
  const pitch = Math.floor((width - NAME) / side);
  const deep = (count) => Math.ceil(count / side) * TALL;
  const tops = [ROW + GAP];
  for (const { kept } of steps) tops.push(tops.at(-1) + deep(kept.length) + GAP);
  const kept = (n) => steps[n - 1].kept.length;
  const shown = (one) => (one === steps[step - 1] ? drawn(one) : one.kept);
  const last = step ? deep(kept(step)) + deep(shown(steps[step - 1]).length - kept(step)) : -GAP;
  const place = (n, at, before) => [NAME + (at % side) * pitch, tops[n - 1] + before + deep(at + 1) - TALL];
  return {
    start: [NAME, 0, pitch - 4],
    size: [pitch - 4, TALL - 4],
    style: `--all:${width - 4}px;--now:${width - 4}px;height:${tops[Math.max(0, step - 1)] + last}px`,
    shown,
    at: (n, at) => (at < kept(n) ? place(n, at, 0) : place(n, at - kept(n), deep(kept(n)))),
    out: ([x, y, wide], n) => [x + wide / 2, y + (n ? TALL - 4 : HIGH)],
    into: ([x, y]) => [x + (pitch - 4) / 2, y],
    name: (n) => [0, tops[n - 1]],
    cut: (n) => [0, tops[n - 1] + (n < step ? CUT : deep(kept(n)))],
  };
}

/** The tree; `mark` is called with a candidate's {n, place}, or null. */
export function tree(view, mark) {
  const start = el("span", "start", "start");
  const [dropped, kept, marked] = ["dropped", "kept", "marked"].map((name) => svg("path", name));
  const lines = svg("svg", "links", dropped, kept, marked);
  const inner = el("div", { class: "tree", onkeydown: onKeys(({ key }) => move(view, key)) });
  const node = scroller("The search as a tree; arrow keys move from candidate to candidate", inner);
  const trace = (shape, found) => shape.setAttribute("d", found.map((one) => link(view, one)).join(""));
  let room = 0;
  const show = () => {
    room = node.clientWidth;
    view.turned = room > 0 && room < NARROW;
    view.way = view.turned ? down(view, room) : across(view);
    const { style, shown, start: at } = view.way;
    const written = view.now.steps.slice(0, view.step);
    inner.style = style;
    start.style = `${put(at[0], at[1])};width:${at[2]}px`;
    toggle(inner, "down", view.turned);
    view.boxes = written.map((step, before) =>
      shown(step).map((_, place) => box(view, { n: before + 1, place }, mark)),
    );
    inner.replaceChildren(lines, start, ...labels(view), ...view.boxes.flat());
    trace(
      kept,
      written.flatMap((step) => step.kept),
    );
    trace(
      dropped,
      written.flatMap((step) => shown(step).slice(step.kept.length)),
    );
    // a long search is wider than the page: it opens at its beginning, and new words come into sight
    if (view.seen !== undefined && view.seen !== view.step) node.scrollLeft = left(view.step + 1) - node.clientWidth;
    view.seen = view.step;
  };
  // a phone that is turned, or a tree that was folded away
  new ResizeObserver(() => {
    const width = node.clientWidth;
    if (view.now && width && width !== room && Math.min(width, room) < NARROW) view.draw();
  }).observe(node);
  /** Show one path strongly. */
  const light = (found) => {
    trace(marked, found);
    view.boxes.flat().forEach((one) => toggle(one, "best", found.includes(one.candidate)));
  };
  return { node, show, light };
}

/** What stands at the candidates of each word, and at those of them that are pruned. */
function labels({ now: { steps }, step, way, turned }) {
  const label = (text, n, at) => el("span", { class: n > step ? "later" : null, style: put(...at) }, text);
  return steps.slice(0, turned ? step : undefined).flatMap(({ all, kept }, before) => {
    const n = before + 1;
    const out = before < step ? all.length - kept.length : 0;
    return [label(`word ${n}`, n, way.name(n)), ...(out ? [label(`pruned: ${out}`, n, way.cut(n))] : [])];
  });
}

/** Where a candidate stands, and its word's number; before the first word, the start. */
function stand({ now, way }, one) {
  const n = path(one).length;
  return { n, at: n ? [...way.at(n, now.steps[n - 1].all.indexOf(one)), way.size[0]] : way.start };
}

function link(view, one) {
  const before = stand(view, one.before);
  return `M${view.way.out(before.at, before.n).join(" ")}L${view.way.into(stand(view, one).at).join(" ")}`;
}

/** A candidate: its last word, log p of all its words, and that word's probability. */
function box(view, at, mark) {
  const step = view.now.steps[at.n - 1];
  const one = step.all[at.place];
  const stays = at.place < step.kept.length;
  const on = () => mark(at);
  const [wide, high] = view.way.size;
  const node = button("", on, {
    style: `${put(...view.way.at(at.n, at.place))};width:${wide}px;height:${high}px`,
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
    `${fixed(one.logP, 2)} (p\u00a0${fixed(Math.exp(one.log), 2)})`,
  );
  node.candidate = one;
  return node;
}

/** Arrow keys; the one that leads on writes the next word where the tree ends. */
function move(view, pressed) {
  const key = (view.turned && TURNED[pressed]) || pressed;
  if (!view.cursor || !KEYS[key]) return false;
  const { i, j } = KEYS[key]({ i: view.cursor.place, j: view.cursor.n });
  const last = Math.min(view.now.steps.length, view.step + (key === "ArrowRight"));
  const n = Math.max(1, Math.min(last, j));
  if (n > view.step) view.store.set({ step: n });
  const column = view.boxes[n - 1];
  return column[within(i, column.length - 1)].focus();
}
