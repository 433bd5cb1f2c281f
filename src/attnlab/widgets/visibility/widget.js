// What is left of attention where only some of the past is visible: the reader chooses a window, the
// first tokens that are kept and a top-k, over real scores; what it costs was measured.

import { times } from "../core/maths/lists.js";
import { mask, weights } from "../core/maths/nn.js";
import {
  button,
  choice,
  el,
  mark,
  nodes,
  note,
  pressed,
  reset,
  setText,
  setVar,
  together,
  twin,
} from "../core/view/dom.js";
import { eachCell, write } from "../core/view/picture.js";
import { drawLarge, drawn, plot } from "../core/view/plot.js";
import { oneStop } from "../core/view/stop.js";
import { fixed, visible as shownText } from "../core/view/text.js";
import { readable, shade } from "../core/view/theme.js";
import { ladder } from "./ladder.js";
import { kept, nearest, square, visible } from "./maths.js";
import { describe, keptCells, measuredCells, measuredText, rowCells, rowText, said } from "./words.js";

const data = ["tokens", "heads", "measured", "length", "initial"];
const state = ["window", "first", "top", "head", "row"];

const FIRST = [0, 1, 2, 4];
const WIDEST = 420; // of the map, so that the measured points have room beside it
const BLANK = 0.005; // as in the book's other figures, a smaller weight has no number

const NOTE = "Hatched: hidden, darker where more weight is lost. Press a row to see its weights.";

function build(store) {
  const tokens = store.get("tokens");
  const n = tokens.length;
  const view = drawn(
    { store, pin: "row", tokens, alert: { tell() {} }, heads: [{ nQ: n, nK: n }], told: el("p", "note") },
    draw,
  );
  view.squares = store.get("heads").map(({ scores }) => square(scores, n));
  view.settings = settings(view);
  view.plot = plot(view, "Weights of a head over what is visible");
  view.ladder = ladder(store.get("measured"));
  view.sentence = sentence(view);
  view.twins = [
    twin("The row’s weights, before and now", () => rowCells(view), "this row as a table"),
    twin("What each token keeps", () => keptCells(view), "all rows as a table"),
    twin("What was measured", () => measuredCells(view), "what was measured as a table"),
  ];
  const right = el("div", "measured", view.ladder.node, view.told);
  view.node = el(
    "div",
    {},
    view.settings.node,
    el("div", "main", view.plot, right),
    view.status,
    view.sentence.node,
    note(NOTE),
    el("div", "foot", nodes(view.twins)),
  );
  return view;
}

/** Everything that follows from the state. */
function worked({ store, tokens, squares }) {
  const [window, first, top, head, row] = state.map((name) => store.get(name));
  const [heads, measured, length] = ["heads", "measured", "length"].map((name) => store.get(name));
  const n = tokens.length;
  const now = { n, window, first, top, head, row, heads, measured, length };
  const scores = squares[head];
  const may = visible(scores, n, now);
  const full = weights(scores, n, n, mask(n, n, true), 1);
  const shares = kept(full, may, n);
  const mean = shares.reduce((sum, share) => sum + share, 0) / n;
  const place = nearest(measured, now);
  return { ...now, may, full, weights: weights(scores, n, n, may, 1), shares, mean, place };
}

function draw(view, width) {
  const { tokens, cursor, twins } = view;
  view.now = worked(view);
  const { n, row, place } = view.now;
  view.settings.show(view.now);
  drawLarge(view, Math.min(width, WIDEST), {
    head: { nQ: n, nK: n },
    tokens,
    keyTokens: tokens,
    pinned: row,
    axes: ["sees →", "token ↓"],
    fill: (pen, at, palette) => cells(pen, at, palette, view.now),
  });
  view.ladder.show(place);
  setText(view.told, measuredText(view.now));
  view.sentence.show(view);
  twins[0].node.hidden = row === null;
  for (const table of twins) table.show();
  setText(view.status, cursor ? `${describe(view, cursor)}.` : said(view.now));
}

/** The triangle: what is visible has its weight's colour, what is hidden is grey and hatched. */
function cells(pen, at, palette, { n, may, full, weights: after }) {
  const { cell } = at;
  const grey = { paper: palette.masked, half: palette.line, full: palette.muted };
  eachCell({ nQ: n, nK: n }, at, (place, x, y) => {
    const [i, j] = [Math.floor(place / n), place % n];
    if (j > i) return;
    const colour = may[place] ? shade(after[place], palette) : shade(full[place], grey);
    pen.rect(x, y, cell, cell, colour);
    if (!may[place]) pen.line(x, y + cell, x + cell, y, full[place] < 0.5 ? palette.muted : palette.paper);
    else if (at.numbers && after[place] >= BLANK)
      write(pen, fixed(after[place], at.decimals), x, y, at, readable(colour));
  });
  for (let i = 0; i < n; i++) {
    const [x, y] = [at.left + (i + 1) * cell, at.top + i * cell];
    pen.line(x, y, x, y + cell, palette.line);
    pen.line(x - cell, y, x, y, palette.line);
  }
}

function settings(view) {
  const { store } = view;
  const n = view.tokens.length;
  const names = store.get("heads").map(({ name }) => name);
  const head = choice("head", names, (place) => store.set({ head: place }));
  const parts = [
    { node: names[1] ? head.node : null, show: (now) => head.show(now.head) },
    count(store, n, "window", "window: the last"),
    firsts(store),
    count(store, n, "top", "top-k: the largest"),
  ];
  return together(el("div", "controls", nodes(parts), reset(view, "settings")), parts);
}

/** A slider from 1 to all. */
function count(store, n, name, label) {
  const slider = el("input", {
    type: "range",
    min: 1,
    max: n,
    "aria-label": label,
    oninput: () => store.set({ [name]: Number(slider.value) }),
  });
  const value = el("span", "value");
  const show = (now) => {
    const text = now[name] === n ? "all" : `${now[name]} of ${n}`;
    slider.value = now[name];
    slider.setAttribute("aria-valuetext", text);
    setText(value, text);
  };
  return { node: el("div", "slide", el("span", { "aria-hidden": "true" }, label), slider, value), show };
}

/** How many first tokens are kept: a button for each. */
function firsts(store) {
  const buttons = FIRST.map((first) =>
    button(String(first), () => store.set({ first }), { "aria-label": `${first} first tokens kept` }),
  );
  const group = el("div", { class: "firsts", role: "group", "aria-label": "first tokens kept" }, buttons);
  oneStop(group, buttons);
  const show = (now) => buttons.forEach((node, place) => pressed(node, FIRST[place] === now.first));
  return { node: el("div", "slide", el("span", { "aria-hidden": "true" }, "first tokens kept"), group), show };
}

/** The row's tokens, each under two bars: its weight before and now. */
function sentence({ tokens }) {
  const title = el("p", "title");
  const words = times(tokens.length, (j) => el("li", {}, el("span"), shownText(tokens[j])));
  const node = el("div", "sentence", title, el("ol", { "aria-hidden": "true" }, words));
  const show = (view) => {
    const { n, row, full, weights: after, may } = view.now;
    node.hidden = row === null;
    if (node.hidden) return;
    setText(title, rowText(view));
    words.forEach((word, j) => {
      const at = row * n + j;
      word.hidden = j > row;
      mark(word, "out", !may[at]);
      setVar(word, "before", full[at].toFixed(4));
      setVar(word, "now", after[at].toFixed(4));
    });
  };
  return { node, show };
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "What is visible", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
