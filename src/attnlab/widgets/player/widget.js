// A translation played word by word: where each word looked, and how well that aligns the two.

import { within } from "../core/maths/lists.js";
import { weights } from "../core/maths/nn.js";
import { unpackScores } from "../core/maths/packing.js";
import { slide, temperature } from "../core/view/controls.js";
import { alertLine, button, choice, el, note, reset, setText, tick, twin } from "../core/view/dom.js";
import { attach, drawn, under } from "../core/view/plot.js";
import { stepper } from "../core/view/stepper.js";
import { visible } from "../core/view/text.js";
import { greatest, linksAt } from "./maths.js";
import { drawMatrix, stage } from "./stage.js";
import { cells, describe, scoreTable } from "./words.js";

const data = ["sentences", "shape", "packed", "ranges", "initial"];
const state = ["chosen", "word", "threshold", "temperature", "scored"];

const PACE = 1200; // milliseconds a word
const NOTHING = -22; // the logarithm of a weight that counts as 0
const NOTE = "Thickness and shade: the weight. Pale rows: words still to come.";
const NOTE_OF_LINKS =
  " Dashed or framed: a gold link, known to be right. " +
  "✓ or a dot: a predicted link, whose weight is at least the threshold.";

function build(store) {
  const view = drawn(
    {
      store,
      all: sentences(store),
      playing: 0,
      alert: alertLine(),
      pause() {
        clearInterval(view.playing);
        view.playing = 0;
        view.redraw();
      },
      go(word) {
        // a hand on the player stops the play
        view.pause();
        store.set({ word: within(word, view.now.nT - 1) });
      },
    },
    draw,
  );
  view.settings = settings(view);
  view.stepper = along(view);
  view.stage = stage(view);
  view.note = note(NOTE);
  view.scores = scoreTable(view);
  view.twin = twin("Where each word looked, as a table", () => cells(view));
  view.plot = el("div", { class: "plot", onclick: (event) => click(view, event) }, view.canvas);
  view.node = el(
    "div",
    {},
    view.settings.node,
    view.stepper.node,
    el("div", "main", view.stage.node, el("div", {}, el("p", "panelhead", "all words"), view.plot)),
    view.status,
    view.note,
    view.scores.node,
    el("div", "foot", view.twin.node),
  );
  view.attach = (figure) => {
    const detach = attach(view, figure);
    return () => {
      view.pause();
      detach();
    };
  };
  return view;
}

/** The sentences with their log-weights, which come padded to one size. */
function sentences(store) {
  const [, rows, columns] = store.get("shape");
  const packed = unpackScores(store.get("packed"), store.get("ranges"), rows * columns);
  return store.get("sentences").map(({ source, target, gold }, k) => {
    const [nT, nS] = [target.length, source.length];
    const logs = Float64Array.from(
      { length: nT * nS },
      (_, at) => packed[k][Math.floor(at / nS) * columns + (at % nS)],
    );
    return {
      nT,
      nS,
      logs,
      may: Uint8Array.from(logs, (log) => Number(log > NOTHING)),
      source: source.map(visible),
      target: target.map(visible),
      known: gold?.map(([s, t]) => t * nS + s) ?? null,
    };
  });
}

function draw(view, width) {
  const { store } = view;
  const scored = store.get("scored"); // the looks alone have no temperature, no links and no gold
  for (const one of view.all) {
    one.weights = weights(one.logs, one.nT, one.nS, one.may, scored ? store.get("temperature") : 1);
    one.links = scored ? linksAt(one.weights, store.get("threshold")) : [];
    one.gold = scored ? one.known : null;
    one.greatest = greatest(one.weights, one.nS);
  }
  view.now = view.all[store.get("chosen")];
  // of another sentence just chosen elsewhere, the word is still to come
  view.word = Math.min(store.get("word"), view.now.nT - 1);
  for (const part of [view.settings, view.stepper, view.stage, view.scores, view.twin]) part.show();
  drawMatrix(view, width);
  setText(view.status, describe(view));
  setText(view.note, scored ? NOTE + NOTE_OF_LINKS : NOTE);
}

function settings(view) {
  const { store, all } = view;
  const { node: error, tell } = view.alert;
  const heat = temperature(store, tell);
  const threshold = slide({ label: "threshold θ", name: "threshold", store, tell, min: 0, max: 1, least: 0, most: 1 });
  const choose = choice(
    "sentence",
    all.map(({ source }, k) => `${k + 1}: ${source.join(" ")}`),
    (chosen) => store.set({ chosen, word: 0 }),
  );
  const compare = tick("compare with gold links", (on) => store.set({ scored: on }));
  const show = () => {
    const scored = store.get("scored");
    heat.show();
    threshold.show();
    choose.show(store.get("chosen"));
    compare.show(scored);
    for (const part of [heat, threshold]) part.node.hidden = !scored;
  };
  const node = el(
    "div",
    {},
    el(
      "div",
      "controls sentence",
      all.length > 1 ? choose.node : null,
      compare.node,
      heat.node,
      threshold.node,
      reset(view, "settings", view.pause),
    ),
    error,
  );
  return { node, show };
}

/** Previous, play or pause, next. Who asks for little motion has no play. */
function along(view) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const last = () => view.now.nT - 1;
  const ended = () => view.word === last();
  const tick = () => (ended() || still.matches ? view.pause() : view.store.set({ word: view.word + 1 }));
  const play = button("play", () => {
    const { playing } = view;
    view.go(!playing && ended() ? 0 : view.word);
    if (!playing) view.playing = setInterval(tick, PACE);
  });
  const words = stepper({
    what: "words",
    inner: play,
    last,
    at: () => Math.min(view.store.get("word"), last()),
    go: view.go,
    upright: true,
    told: () => `word ${view.word + 1} of ${view.now.nT}`,
  });
  const show = () => {
    setText(play, view.playing ? "pause" : "play");
    play.hidden = still.matches;
    words.show();
  };
  return { ...words, show };
}

/** A click on a row of the matrix goes to its word. */
function click(view, event) {
  const cell = under(view, view.canvas, event, view.now.nT, view.now.nS);
  if (cell) view.go(cell.i);
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "A translation’s alignment", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
