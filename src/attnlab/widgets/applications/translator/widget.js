// A Transformer that translates what the reader types, in this page, and shows where it looks.

import { times } from "../../core/maths/lists.js";
import { mask, mean } from "../../core/maths/nn.js";
import { slide } from "../../core/view/controls.js";
import { alertLine, choice, el, nodes, note, reset, setText, settingsFold } from "../../core/view/dom.js";
import { makeHead, paint } from "../../core/view/frame.js";
import { drawLarge, drawn, plot } from "../../core/view/plot.js";
import { stepper } from "../../core/view/stepper.js";
import { typing } from "./line.js";
import * as model from "./model.js";
import { overview, rowsOf } from "./overview.js";
import * as pieces from "./pieces.js";
import { cutting } from "./reading.js";
import { halt, playing, reveal, translate } from "./run.js";
import * as text from "./text.js";
import { changes, describe, describeRow, ranking, rivals, sources, summary, tables, words } from "./words.js";

const data = ["source_words", "target_words", "shapes", "sizes", "pieces", "examples", "asset", "simple", "initial"];
const state = ["sentence", "beam", "penalty", "part", "layer", "head", "shown", "row", "off", "temperature"];

const MOST_BEAM = 8;
const moves = (unit) => ({ "to the start": -Infinity, back: -1, [`next ${unit}`]: 1, all: Infinity });
const PARTS = {
  cross: "decoder → source",
  encoder: "encoder: source → source",
  decoder: "decoder: translation → translation",
};

const [WIDE, SIDE] = [640, 270]; // where there is room, the bars stand beside the map

const notes = (unit) => ({
  cross: `A row is a ${unit} that the decoder writes, a column a ${unit} of the source that it looks at.`,
  encoder: `A row is a ${unit} of the source, a column another ${unit} of it that it looks at.`,
  decoder:
    `A row is a ${unit} that the decoder has read, a column one that it has read before. It ` +
    `writes the next ${unit} from it; what is crossed out was not yet written.`,
});

function build(store) {
  const view = drawn(
    {
      store,
      pin: "row",
      unit: cutting(store) ? "piece" : "word", // what the model reads and writes
      alert: alertLine(),
      there: Boolean(store.get("carried")?.byteLength), // else they are loaded when they are wanted
      place: el("div"),
      spot: el("div"), // where what is found stands, above what resets the picture
      about: note(),
      simple: store.get("simple"), // a sentence, a button; all else once it is translated
      pinWord(row) {
        halt(view);
        store.set({ row, ...(store.get("part") === "encoder" ? { part: "cross" } : {}) });
      },
    },
    draw,
  );
  view.line = typing(view, () => {
    halt(view);
    Object.assign(view, { asked: true, play: view.simple ? null : () => playing(view) });
    if (view.simple) write(view);
    view.redraw();
  });
  view.settings = settings(view);
  view.parts = [along(view), words(view), ranking(view), maps(view), rivals(view), tables(view)];
  const [steps, text, list, which, side, folded] = nodes(view.parts);
  const change = changes(view);
  const [read, all] = cutting(store) ? [[sources(view)], [overview(view)]] : [[], []];
  view.parts.push(change, ...read, ...all);
  view.found = el(
    "div",
    "found",
    change.node,
    ...(view.simple ? [text, ...nodes(read), steps] : [steps, ...nodes(read), text]),
    list,
    which,
    el("div", "main", view.place, side),
    view.status,
    view.about,
    ...nodes(all),
    folded,
  );
  view.node = el("div", view.simple ? "simple" : {}, view.line.node, view.alert.node, view.line.hints);
  (view.simple ? view.found : view.node).append(view.settings.node);
  view.node.append(view.spot);
  const { attach } = view;
  view.attach = (figure) => {
    const detach = attach(figure);
    Object.assign(view, { figure, gone: false });
    return () => {
      view.gone = true;
      halt(view);
      detach();
    };
  };
  return view;
}

function draw(view, width) {
  view.line.show();
  view.settings.show();
  if (view.asked || view.there) translate(view);
  if (!view.result || view.writing) return;
  view.written?.remove();
  if (!view.found.parentNode) view.spot.append(view.found);
  view.figure.querySelector(".attnbook-fallback")?.remove(); // what it says is said here now
  look(view);
  view.parts.forEach((part) => part.show(view.now));
  map(view, width > WIDE ? width - SIDE : width);
  setText(view.about, `${notes(view.unit)[view.now.part]} A row’s weights sum to 1.`);
  const {
    cursor,
    now: { pinned },
  } = view;
  setText(view.status, cursor ? describe(view, cursor) : pinned === null ? summary(view) : describeRow(view, pinned));
}

/** Show the translation as it comes, alone; what tells how it came waits until it is whole. */
function write(view) {
  const text = el("p", "written", "…");
  if (!view.busy) view.key = null; // the same sentence again, too
  view.writing = (said) => setText(text, said || "…");
  view.store.set({ shown: null, row: null });
  view.found.replaceWith(text);
  view.written?.remove();
  view.written = text;
  view.spot.append(text);
}

/** What is shown now: the translation as far as it is shown, and the weights that are drawn. */
function look(view) {
  const {
    store,
    result,
    reader: { target },
  } = view;
  const [part, layer, head, shown, row] = state.slice(3, 8).map((name) => store.get(name));
  const { steps, sentence } = result;
  const last = steps.length;
  const names = steps.map(({ word }) => target[word]);
  const count = Math.min(shown ?? last, last);
  const read = [target[1], ...names.slice(0, -1)];
  const rows = rowsOf(result, part, layer, count);
  const [tokens, keys] = { cross: [names, sentence], encoder: [sentence, sentence], decoder: [read, read] }[part];
  const pinned = row !== null && row < rows.length ? row : null;
  const now = count < last ? count - 1 : -1;
  view.now = {
    result,
    steps,
    names,
    count,
    part,
    pinned,
    full: tokens.length,
    at: part === "encoder" ? now : (pinned ?? now),
  };
  Object.assign(view, { tokens: tokens.slice(0, rows.length), keyTokens: keys });
  // what the decoder has not written yet, it cannot look at
  view.may = mask(tokens.length, keys.length, part === "decoder");
  view.head = makeHead(null, Math.max(1, rows.length), keys.length); // no canvas is empty
  rows.forEach((heads, i) => view.head.weights.set(head === null ? mean(heads) : heads[head], i * keys.length));
  if (view.cursor?.i >= rows.length) view.cursor = null;
}

/** Draw the map; room is kept for the rows that are still to come. */
function map(view, width) {
  const {
    head,
    may,
    tokens,
    keyTokens,
    now: { part, full, pinned },
  } = view;
  const size = `${part} ${full} ${keyTokens.length}`;
  if (view.size !== size) {
    Object.assign(view, { size, heads: [{ nQ: full, nK: keyTokens.length }], cursor: null });
    view.plot = plot(view, "Attention weights");
    view.place.replaceChildren(view.plot);
  }
  view.plot.hidden = !tokens.length;
  if (!tokens.length) return;
  paint(head, may, view.ramp);
  const axes = part === "cross" ? ["looks at →", "writes ↓"] : undefined;
  drawLarge(view, width, { head, may, tokens, keyTokens, pinned, axes });
  view.place.style.minHeight = `${view.at.height + view.at.cell * (full - tokens.length)}px`;
}

function along(view) {
  const last = () => view.now.steps.length;
  return stepper({
    what: `${view.unit}s`,
    moves: moves(view.unit),
    last,
    at: () => Math.min(view.store.get("shown") ?? last(), last()),
    go(count) {
      halt(view);
      reveal(view, count);
    },
    told: () => `${view.unit} ${view.now.count} of ${last()}`,
  });
}

function settings(view) {
  const {
    store,
    alert: { tell },
  } = view;
  const beam = choice(
    "beam",
    times(MOST_BEAM, (at) => (at ? String(at + 1) : "1 (greedy)")),
    (at) => store.set({ beam: at + 1 }),
  );
  const penalty = slide({ store, tell, name: "penalty", label: "length penalty α", min: 0, max: 2, least: 0, most: 2 });
  const again = reset(view, "sentence", () => {
    halt(view);
    view.line.forget();
  });
  const show = () => {
    beam.show(store.get("beam") - 1);
    penalty.show();
  };
  const both = [beam.node, penalty.node];
  const node = view.simple
    ? el("div", "controls", both, again)
    : el("div", {}, settingsFold(view.line.more, both), again);
  return { node, show };
}

/** Which attention is drawn. */
function maps({ store }) {
  const { heads, layers } = store.get("sizes");
  const parts = Object.keys(PARTS);
  const part = choice("attention", Object.values(PARTS), (at) => store.set({ part: parts[at], row: null }));
  const layer = choice("layer", times(layers, String), (at) => store.set({ layer: at }));
  const head = choice("head", ["mean of all", ...times(heads, String)], (at) =>
    store.set({ head: at ? at - 1 : null }),
  );
  const show = () => {
    part.show(parts.indexOf(store.get("part")));
    layer.show(store.get("layer"));
    head.show((store.get("head") ?? -1) + 1);
  };
  return { node: el("div", "controls", nodes([part, layer, head])), show };
}

/** @type {import("../../core/types.d.ts").Kind} */
export const widget = { name: "A translator", build, data, state };
export const maths = { ...model, ...pieces, ...text };
