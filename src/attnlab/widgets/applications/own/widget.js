// The reader's own sentence in MiniLM, in this page: every head's weights, with a switch for each.

import { times } from "../../core/maths/lists.js";
import { sizeText } from "../../core/view/assets.js";
import {
  alertLine,
  button,
  choice,
  el,
  mark,
  nodes,
  note,
  onKeys,
  pressed,
  reset,
  setText,
  setVar,
  twin,
} from "../../core/view/dom.js";
import { makeHead, paint } from "../../core/view/frame.js";
import { drawLarge, drawn, plot } from "../../core/view/plot.js";
import { rowBars } from "../../core/view/row.js";
import { actions, rows } from "../../core/view/saving.js";
import { oneStop } from "../../core/view/stop.js";
import { labels } from "../../parts/labels.js";
import { switches } from "../../parts/switches.js";
import { keep, leaning } from "./lean.js";
import * as model from "./model.js";
import { found, prepared, stored } from "./run.js";
import * as unpacking from "./unpack.js";
import { taken } from "./unpack.js";
import * as wordpiece from "./wordpiece.js";
import { changeText, describe, describeRow, HINT, headCells, mapCells, offText, short, tellOdd } from "./words.js";

const data = ["shapes", "sizes", "examples", "asset", "initial"];
const state = ["text", "layer", "head", "row", "off", "between"];

const WIDEST = 320; // of the large map, so that its row's bars have room beside it and the picture a screen
const MOST = 1000; // letters that are looked at

const ABOUT =
  "Layers and heads are counted from 0: 3.1 is head 1 of layer 3. A head that is switched off gives zeros " +
  "in place of its output; the maps of its own layer do not change by it, those above may. " +
  "A row’s weights sum to 1.";

function build(store) {
  const view = drawn(
    {
      store: { ...store, get: (name) => valid(view, store, name) },
      pin: "row",
      tokens: [],
      alert: alertLine(),
      odd: note(),
      place: el("div"),
      side: el("div", "side"),
      there: false, // the model
      read: new Map(), // sentences, ready for it
      exported: () => ({ ...picture(view), cursor: null }),
      rows: () => rows(view),
    },
    draw,
  );
  view.line = typing(view);
  view.pieces = pieces(view);
  view.lean = leaning(view);
  view.board = board(view);
  view.which = which(view);
  view.twins = [
    twin("the large map, as a table", () => (view.now ? mapCells(view) : [[]]), "The large map as a table"),
    twin("every head, as a table", () => (view.now ? headCells(view) : [[]]), "Every head as a table"),
  ];
  view.live = el(
    "div",
    {},
    view.pieces.node,
    view.which.node,
    el("div", "main", view.place, view.side),
    view.status,
    view.lean.node,
    view.board.node,
    el("div", "foot", nodes(view.twins), actions(view)),
  );
  view.node = el("div", {}, view.line.node, view.alert.node, view.odd);
  const { attach } = view;
  view.attach = (figure) => {
    view.figure = figure;
    // until there is a sentence to show, what stands below stays where the table had put it
    view.node.style.minHeight = `${figure.querySelector(".attnbook-fallback")?.offsetHeight ?? 0}px`;
    const detach = attach(figure);
    return () => {
      view.gone = true;
      detach();
    };
  };
  if (store.get("carried")?.byteLength) go(view, store.get("text"), false);
  else
    stored(store)
      .then((sentences) => {
        view.stored = sentences;
        view.redraw();
      })
      .catch(() => view.alert.tell("The stored sentences could not be loaded; your own can still be read."));
  return view;
}

/** A trait; a place that the sentence does not have is none. The heat map says "pinned" for row. */
function valid(view, store, name) {
  const value = store.get(name === "pinned" ? "row" : name);
  if (name !== "row" && name !== "pinned") return value;
  return value !== null && value < (view.tokens?.length || Infinity) ? value : null;
}

/**
 * Read a text by the model, and show it; the pinned word stays pinned where the text has it too.
 * @type {(view: any, text: string, mine?: boolean) => Promise<void>}
 */
async function go(view, text, mine = true) {
  const { store, alert, line } = view;
  Object.assign(view, { wish: text, tried: text });
  const late = () => view.gone || view.wish !== text;
  if (mine) {
    alert.tell(""); // what the reader is told of a text stays while the page reads the one before
    line.wrong(false);
  }
  line.price("loading …");
  view.board.busy();
  try {
    const ready = await prepared(view, text);
    if (late()) return;
    if (ready.why) {
      alert.tell(ready.why);
      line.wrong(true);
    } else {
      view.ready = ready;
      keep(view, ready);
      const word = store.get("row") === null ? null : view.tokens[store.get("row")];
      const at = ready.tokens.indexOf(word);
      if (mine) store.set({ text, row: at < 0 ? null : at });
    }
  } catch (error) {
    if (late()) return;
    alert.tell(
      `The model could not be loaded (${error.message}). The stored sentences can still be looked at, with every head on.`,
    );
  }
  view.wish = null;
  line.price();
  view.redraw();
}

/** What there is to show of what is asked for. */
function look(view) {
  const [text, off] = [view.store.get("text"), view.store.get("off")];
  const key = JSON.stringify([text, off]);
  if (view.found && view.key === key) return;
  if (view.ready?.text === text) {
    view.found = found(view.ready, off);
    view.key = key;
  } else {
    if (view.there && view.tried !== text) go(view, text, false);
    const one = view.stored?.find((sentence) => sentence.text === text);
    if (one) Object.assign(view, { found: one, key: null });
  }
}

function draw(view, width) {
  look(view);
  view.line.show();
  if (!view.found) return;
  const { store, live, node, figure } = view;
  if (!live.parentNode) node.append(live);
  figure.querySelector(".attnbook-fallback")?.remove();
  node.style.minHeight = "";
  turn(view);
  const { heads, layers } = store.get("sizes");
  const [layer, head, row] = ["layer", "head", "row"].map((name) => store.get(name));
  const n = view.tokens.length;
  view.now = { layer, head, row };
  view.all.forEach((one, h) => {
    one.weights.set(view.found.seen[h]);
  });
  view.heads = view.all.slice(layer * heads, (layer + 1) * heads);
  view.head = view.heads[head];
  paint(view.head, view.may, view.ramp);
  if (!view.plot) {
    view.plot = plot(view, "The large map");
    view.place.replaceChildren(view.plot);
  }
  drawLarge(view, Math.min(width, WIDEST), picture(view));
  rowBars(view);
  view.board.show({ n, layers, heads });
  for (const part of [view.pieces, view.lean, view.which]) part.show(view.now);
  view.twins.forEach((one) => one.show());
  tellOdd(view.odd, view.found.odd);
  const { cursor } = view;
  mark(view.status, "hint", !cursor && row === null);
  setText(view.status, cursor ? describe(view, cursor) : row === null ? HINT : describeRow(view, row));
}

/** Turn to other tokens. */
function turn(view) {
  const { tokens } = view.found;
  if (view.tokens === tokens) return;
  const n = tokens.length;
  const { layers, heads } = view.store.get("sizes");
  Object.assign(view, { tokens, names: labels(tokens), cursor: null, plot: null });
  view.keyTokens = view.names;
  view.may = new Uint8Array(n * n).fill(1);
  view.all = times(layers * heads, () => makeHead(null, n, n));
  view.heads = view.all;
}

const picture = (view) => ({
  head: view.head,
  may: view.may,
  tokens: view.names,
  keyTokens: view.names,
  pinned: view.store.get("row"),
});

/** The box, its button, and the list of the stored sentences. */
function typing(view) {
  const { store, alert } = view;
  const send = () => {
    const text = box.value.trim();
    const count = Array.from(text).length;
    const wrong = !count
      ? "Type a sentence first."
      : count > MOST && `At most ${MOST} letters are wanted, not ${count}: shorten the text.`;
    box.toggleAttribute("aria-invalid", false);
    if (!wrong) return go(view, text);
    alert.tell(wrong);
    return box.setAttribute("aria-invalid", "true");
  };
  const box = el("input", {
    type: "text",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-label": "your own sentence",
    onkeydown: (event) => event.key === "Enter" && send(),
  });
  const cost = el("span", { class: "note", role: "status" });
  const { shard } = store.get("sizes");
  const more = sizeText((4 / 3) * taken([[shard, store.get("shapes")[0][1]]]).size);
  const price = (text = `loads MiniLM once, ${sizeText(store.get("size"))}, and for a new word at most ${more}`) =>
    setText(cost, view.there && !view.wish ? "" : text);
  const choose = (text) => {
    if (view.there) return go(view, text);
    alert.tell("");
    view.wish = null;
    const word = store.get("row") === null ? null : view.tokens[store.get("row")];
    const { tokens } = store.get("examples").find((one) => one.text === text);
    const at = tokens.indexOf(word);
    return store.set({ text, row: at < 0 ? null : at, off: [] });
  };
  const texts = store.get("examples").map(({ text }) => text);
  const examples = choice("or a stored sentence:", texts, (at) => choose(texts[at]));
  const node = el("div", "typing", el("div", "ask", box, button("read it", send), cost), examples.node);
  let put = null;
  const show = () => {
    const now = store.get("text");
    if (put !== now) box.value = now;
    put = now;
    examples.show(texts.indexOf(now));
    if (!view.wish) price();
  };
  return {
    node,
    show,
    price,
    forget: () => {
      put = null;
      box.removeAttribute("aria-invalid");
    },
    wrong: (on) => (on ? box.setAttribute("aria-invalid", "true") : box.removeAttribute("aria-invalid")),
  };
}

/** The pieces, each a button that pins its row, and as dark as the pinned one looks at it. */
function pieces(view) {
  const list = el("ol", { class: "pieces", "aria-label": "the sentence in pieces" });
  let drawn = null;
  const show = ({ row }) => {
    if (drawn !== view.tokens) {
      drawn = view.tokens;
      const pin = (i) => view.store.set({ row: view.store.get("row") === i ? null : i });
      list.replaceChildren(
        ...view.tokens.map((token, i) =>
          el(
            "li",
            {},
            button(token, () => pin(i)),
          ),
        ),
      );
    }
    Array.from(list.children, (item, j) => {
      pressed(item.firstChild, j === row);
      setVar(item.firstChild, "w", row === null ? 0 : view.head.weights[row * view.tokens.length + j]);
    });
  };
  return { node: list, show };
}

/** Which head is large. */
function which(view) {
  const { store } = view;
  const { heads, layers } = store.get("sizes");
  const layer = choice("layer", times(layers, String), (at) => store.set({ layer: at }));
  const head = choice("head", times(heads, String), (at) => store.set({ head: at }));
  const show = () => {
    layer.show(store.get("layer"));
    head.show(store.get("head"));
  };
  const again = reset(view, "sentence", () => view.line.forget());
  return { node: el("div", "controls", layer.node, head.node, again), show };
}

/** Let Tab stop twice, at a map and at a switch; arrow keys go to the others, ↑ and ↓ by a layer. */
function twoStops({ node, maps }, heads) {
  for (const members of [maps.map(({ press }) => press), maps.map(({ on }) => on.node.querySelector("input"))]) {
    const go = oneStop(node, members);
    const step = { ArrowUp: -heads, ArrowDown: heads };
    const move = ({ key, target }) => {
      const to = members.indexOf(target) + (step[key] ?? NaN);
      return members.includes(target) && to >= 0 && to < members.length ? go(to) : false;
    };
    node.addEventListener("keydown", onKeys(move));
  }
}

/** All heads, and their switches. */
function board(view) {
  const { store } = view;
  const { heads, layers } = store.get("sizes");
  const all = switches(view, () => []);
  const folded = heads > 6 ? Math.ceil(heads / 2) : heads; // in a row where there is little room
  for (const { layer, head, press, on } of all.maps) {
    const box = on.node.querySelector("input");
    box.setAttribute("aria-label", on.node.textContent);
    on.node.lastChild.remove(); // the style writes the short name, and places both
    on.node.setAttribute("data-name", short(layer, head));
    const below = layer * Math.ceil(heads / folded) + Math.floor(head / folded);
    const places = { x: head, y: layer, "narrow-x": head % folded, "narrow-y": below };
    for (const one of [press, on.node]) Object.entries(places).forEach(([name, at]) => setVar(one, name, at));
  }
  setVar(all.node, "folded", folded);
  all.node.replaceChildren(...all.maps.flatMap(({ press, on }) => [press, on.node]));
  twoStops(all, heads);
  const off = button("all off", () => store.set({ off: all.maps.map(({ name }) => name()) }));
  const on = button("all on", () => store.set({ off: [] }));
  const load = button("", () => go(view, store.get("text")));
  const why = el("span", "note");
  const told = el("p", "effect");
  const fold = el(
    "details",
    { class: "twin" },
    el("summary", {}, `all ${layers * heads} heads, and a switch for each`),
    el("div", "controls", off, on, load, why),
    el("div", { role: "group", "aria-label": "all heads" }, all.node),
    note(ABOUT),
  );
  const node = el("div", "all", told, fold);
  const busy = () => {
    const now = Boolean(view.wish);
    load.disabled = now;
    setText(why, now ? "loading …" : view.ready?.text === store.get("text") ? "" : "to switch heads off");
  };
  const show = ({ n }) => {
    const ready = view.ready?.text === store.get("text");
    off.disabled = !ready;
    on.disabled = !ready || !store.get("off").length;
    load.hidden = ready;
    setText(load, view.there ? "read this sentence by the model" : `load MiniLM, ${sizeText(store.get("size"))}`);
    busy();
    all.show(n, n, (weights, l, h) => weights.set(view.found.seen[l * heads + h]));
    for (const { press, on } of all.maps) {
      const box = on.node.querySelector("input");
      box.disabled = !ready;
      mark(press, "silent", !box.checked);
    }
    setText(told, offText(view.found.off, layers * heads) + changeText(view));
  };
  return { node, show, busy };
}

/** @type {import("../../core/types.d.ts").Kind} */
export const widget = { name: "A trained encoder, and a sentence to type", build, data, state };
export const maths = { ...model, ...unpacking, ...wordpiece };
