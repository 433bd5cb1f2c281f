// All heads of a pretrained model on stored sentences: a small map of each, one of them large, and
// which of them look from one word to another. The weights come when the reader asks for them.

import { within } from "../../core/maths/lists.js";
import { bytesOf } from "../../core/maths/packing.js";
import { assetOf, sizeText } from "../../core/view/assets.js";
import { alertLine, button, choice, el, nodes, note, onKeys, reset, setText, tick, twin } from "../../core/view/dom.js";
import { makeHead, paint } from "../../core/view/frame.js";
import { drawLarge, drawn, drawOver, mapKeys, point, under } from "../../core/view/plot.js";
import { rowBars } from "../../core/view/row.js";
import { actions, rows } from "../../core/view/saving.js";
import { read } from "../../core/view/store.js";
import { labels } from "../../parts/labels.js";
import { bestHeads, isAcross, smallMaps } from "./grid.js";
import { kept, measured, ranked, seen, stored, weighed } from "./maths.js";
import { listed, ownSentence } from "./own.js";
import { about, asked, headName, largeCells, measureCells, measures, said, specialName } from "./words.js";

const data = ["sentences", "shape", "causal", "reads", "asset", "initial"];
const shown = ["chosen", "layer", "head", "row", "key", "measure", "hide"];
const state = [...shown, "own", "typed", "answer"];

const WIDEST = 430; // of the large map, so that its row's bars have room beside it

function build(store) {
  const causal = store.get("causal");
  const special = specialName(causal);
  const view = drawn(
    {
      store: { ...store, get: (name) => valid(store, name) },
      pin: "row",
      shape: store.get("shape"),
      causal,
      special,
      measures: measures({ special }),
      lengths: store.get("sentences").map(({ tokens }) => tokens.length),
      bytes: null,
      shown: null,
      pointed: null,
      reached: null,
      alert: alertLine(),
      side: el("div", "side"),
      title: el("p", "title"),
      place: el("div"),
      exported: () => ({ ...picture(view), cursor: null }),
      rows: () => rows(view),
    },
    draw,
  );
  view.settings = settings(view);
  view.own = ownSentence(store);
  view.ask = ask(view);
  view.live = arrange(view);
  view.node = el("div", {}, view.ask, view.alert.node);
  const there = globalThis.attnbookAssets?.[store.get("asset")];
  if (there || store.get("carried")?.byteLength) load(view);
  else if (store.get("at_once")) whenInView(view.node, () => load(view));
  return view;
}

/** @type {(node: Element, then: () => void) => void} */
function whenInView(node, then) {
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    seen.disconnect();
    then();
  });
  seen.observe(node);
}

/** A trait; a place that the sentence does not have is none. The heat map says "pinned" for row. */
function valid(store, name) {
  const value = store.get(name === "pinned" ? "row" : name);
  if (name === "chosen") return within(value, listed(store).length - 1);
  if (!["pinned", "row", "key"].includes(name)) return value;
  return value < listed(store)[valid(store, "chosen")].tokens.length ? value : null;
}

/** The button that fetches the weights, with their size. */
function ask(view) {
  const {
    store,
    shape: [layers, heads],
    lengths,
  } = view;
  const press = button(
    `load all ${layers * heads} heads of ${lengths.length} sentences (${sizeText(store.get("size"))})`,
    async () => {
      const focused = document.activeElement === press;
      await load(view);
      if (focused && view.bytes) view.settings.first.focus();
    },
  );
  return el("p", "ask", press);
}

const expected = ({ shape: [layers, heads], lengths, causal }) =>
  lengths.reduce((sum, n) => sum + 2 * layers * heads * kept(n, causal), 0);

async function load(view) {
  view.alert.tell("");
  try {
    const bytes = await assetOf(view.store);
    // the file of another page would be of another length
    if (bytes.length !== expected(view)) throw new RangeError();
    view.bytes = bytes;
  } catch {
    return view.alert.tell(`The weights could not be loaded: assets/${view.store.get("asset")}.js`);
  }
  view.ask.replaceWith(view.live);
  view.node.closest("figure")?.querySelector(".attnbook-fallback")?.remove(); // it has done its work
  return view.redraw();
}

function arrange(view) {
  view.best = bestHeads(view);
  // print opens them, perhaps before there is anything in them
  /** @type {[(view: any) => any[], string][]} */
  const tables = [
    [measureCells, "all heads"],
    [largeCells, "the large map"],
  ];
  view.twins = tables.map(([cells, name]) =>
    twin(`${name}, as a table`, () => (view.now ? cells(view) : [[]]), `${name} as a table`),
  );
  view.plot = el(
    "div",
    {
      class: "plot",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "heat map",
      "aria-label":
        "Large map. Arrow keys move from cell to cell, Enter chooses the cell’s query " +
        "and key, Escape lets them go.",
      onpointermove: (event) => event.pointerType !== "touch" && point(view, find(view, event)),
      onpointerleave: () => point(view, null),
      onclick: (event) => pick(view, find(view, event), event.offsetX < view.at.left),
      onkeydown: onKeys((event) => keys(view, event)),
      onfocus: view.redraw,
      onblur: () => point(view, null),
    },
    view.canvas,
  );
  return el(
    "div",
    {},
    view.settings.node,
    view.own.node,
    view.place,
    view.best.node,
    view.title,
    el("div", "main", view.plot, view.side),
    view.status,
    note(about(view)),
    el("div", "foot", nodes(view.twins), actions(view)),
  );
}

const find = (view, event) => under(view, view.canvas, event, view.tokens.length, view.tokens.length);

/** Ask from a cell's query to its key, or let both go; a click on a row's name is of no key. */
function pick({ store }, cell, alone) {
  if (!cell) return;
  const again = store.get("row") === cell.i && (alone || store.get("key") === cell.j);
  if (again) store.set({ row: null, key: null });
  else store.set(alone ? { row: cell.i } : { row: cell.i, key: cell.j, measure: "key" });
}

function keys(view, event) {
  if (event.key === "Escape") return view.store.set({ row: null, key: null });
  if (event.key === "Enter" || event.key === " ") return pick(view, view.cursor);
  const n = view.tokens.length;
  return mapKeys(view, event, { nQ: n, nK: n });
}

/** Sentence, hiding, reset. */
function settings(view) {
  const { store } = view;
  const choose = choice("sentence", [], (chosen) => {
    // the same words, where the other sentence has them
    const there = (place) => {
      const at = place === null ? -1 : listed(store)[chosen].tokens.indexOf(view.tokens[place]);
      return at < 0 ? null : at;
    };
    store.set({ chosen, row: there(store.get("row")), key: there(store.get("key")) });
  });
  const list = choose.node.querySelector("select");
  const offer = (names) => {
    if (names.length === list.length && names.every((name, k) => list.options[k].text === name)) return;
    list.replaceChildren(...names.map((name) => el("option", {}, name)));
  };
  const hide = tick(`hide ${view.special}`, (on) => store.set({ hide: on }));
  const again = reset(view, "picture", () => view.own.forget());
  const node = el("div", "controls sentence", choose.node, hide.node, again);
  const show = ({ chosen, hide: on }) => {
    const count = view.lengths.length;
    offer(listed(store).map(({ name }, k) => (k < count ? `${k + 1}: ${name}` : `yours: ${name}`)));
    choose.show(chosen);
    hide.show(on);
  };
  return { node, show, first: list };
}

/** From which word to which, and by what the small maps are shaded. */
function search({ store, names, measures }) {
  const all = Object.keys(measures);
  const list = (label, none, trait, also) =>
    choice(label, [none, ...names], (place) => store.set({ [trait]: place ? place - 1 : null, ...(place && also) }));
  const from = list("look from", "all queries", "row");
  const to = list("to", "choose a key", "key", { measure: "key" });
  const by = choice("shade by", Object.values(measures), (place) => store.set({ measure: all[place] }));
  const show = ({ row, key, measure }) => {
    from.show((row ?? -1) + 1);
    to.show((key ?? -1) + 1);
    by.show(all.indexOf(measure));
  };
  return { node: el("div", "controls", from.node, to.node, by.node), show };
}

/** Turn to a sentence: its weights, and all that hangs on its tokens. */
function turn(view, sentence, chosen) {
  const { bytes, causal, lengths } = view;
  const { tokens, logs } = sentence;
  const n = tokens.length;
  const count = view.shape[0] * view.shape[1];
  Object.assign(view, { shown: sentence, tokens, cursor: null, painted: null, reached: null });
  view.names = labels(tokens);
  view.keyTokens = view.names; // of the bars, and of what is saved
  const given = logs ? stored(bytesOf(logs), [n], count, 0, causal) : stored(bytes, lengths, count, chosen, causal);
  view.all = given.map((weights) => makeHead(weights, n, n));
  view.search = search(view);
  view.grid = smallMaps(view);
  view.place.replaceChildren(view.search.node, view.grid.node);
}

function draw(view, width) {
  if (!view.bytes) return;
  const {
    store,
    shape: [layers, heads],
  } = view;
  const now = read(store, shown);
  const sentence = listed(store)[now.chosen];
  if (view.shown !== sentence) turn(view, sentence, now.chosen);
  view.across = isAcross(layers, width);
  const place = now.layer * heads + now.head;
  weighAll(view, now);
  const { weights, scores: given } = view.all[place];
  view.now = { ...now, place, weights, given, values: view.values, best: ranked(view.values) };
  view.heads = view.all.slice(place - now.head, place - now.head + heads);
  for (const part of [view.settings, view.own, view.search, view.grid, view.best]) part.show(view.now);
  setText(view.best.title, asked(view));
  setText(view.title, headName(view, place));
  drawLarge(view, Math.min(width, WIDEST), picture(view));
  markKey(view);
  rowBars(view);
  view.twins.forEach((one) => one.show());
  setText(view.status, said(view));
}

const same = (some, others) => some?.every((one, place) => one === others[place]);

/** Weigh and paint all heads, and measure them, where what they show or are asked has changed. */
function weighAll(view, { hide, row, key, measure }) {
  const { tokens, causal } = view;
  const what = [hide, view.ramp];
  if (!same(view.painted, what)) {
    view.painted = what;
    view.may = seen(tokens, hide, causal);
    for (const head of view.all) {
      weighed(head.scores, tokens.length, view.may, head.weights);
      paint(head, view.may, view.ramp);
    }
  }
  const asked = [view.painted, row, key, measure];
  if (same(view.asked, asked)) return;
  view.asked = asked;
  view.values = view.all.map((head) => measured(head.weights, view.may, { tokens, causal, row, key, measure }));
}

const picture = ({ all, may, tokens, now }) => ({
  head: all[now.place],
  may,
  tokens,
  keyTokens: tokens,
  pinned: now.row,
});

/** A frame around the column of the chosen key. */
function markKey({ canvas, at, family, now, palette, tokens }) {
  if (now.key === null) return;
  drawOver(canvas, family, (pen) =>
    pen.frame(at.left + now.key * at.cell, at.top, at.cell, at.cell * tokens.length, palette.accent, 1),
  );
}

/** @type {import("../../core/types.d.ts").Kind} */
export const widget = { name: "The heads of a trained model", build, data, state };
export * as maths from "./maths.js";
