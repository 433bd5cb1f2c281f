// A model that learns in the page: loss and maps change while one looks, and a head can be taken out.

import { bytesOf } from "../../core/maths/packing.js";
import { slide } from "../../core/view/controls.js";
import {
  alertLine,
  button,
  choice,
  el,
  nodes,
  note,
  numberBox,
  reset,
  setText,
  settingsFold,
  together,
  twin,
} from "../../core/view/dom.js";
import { measureWith } from "../../core/view/picture.js";
import { attach, drawn } from "../../core/view/plot.js";
import { read } from "../../core/view/store.js";
import { bend, due, LAST, nameOf, point, SETTINGS, told } from "./course.js";
import { curves } from "./curves.js";
import { desk } from "./desk.js";
import { allHeads } from "./heads.js";
import { learner } from "./learner.js";
import { strip } from "./strip.js";
import { understood } from "./texts.js";
import { broke, noted, numbers, rows, said, warned } from "./words.js";

const data = ["recorded", "initial"];
const state = [...SETTINGS, "text", "off", "step", "speed", "kept"];

const SPEEDS = [1, 5, 20];
const WORTH = 100; // steps of a run that is left, and is kept all the same
const KEPT = 6;
const SPOKEN = 100; // steps between two lines that are read aloud
const NONE = JSON.stringify([0, 1].map(() => [false, false, false, false])); // no head is taken out

const all = learner();

function build(store) {
  const view = drawn(
    {
      store,
      alert: alertLine(),
      curves: curves(),
      strip: strip(),
      running: false,
      run: null, // what is known of the present run
      busy: false,
      runs: 0, // begun so far
      desk: null,
    },
    draw,
  );
  const measured = widths();
  view.measured = (canvas) => measured(view, canvas);
  view.heads = allHeads(view);
  view.settings = settings(view);
  view.lessons = lessons(view);
  view.typed = typed(view);
  view.numbers = el("p", "numbers");
  view.warning = el("p", { class: "warning", role: "alert" });
  view.note = note();
  view.twin = twin("The run, step by step", () => rows(view.now));
  view.picture = el("div", "course", view.curves.node);
  view.node = el(
    "div",
    {},
    view.settings.node,
    view.alert.node,
    el("div", "both", view.picture, view.heads.node),
    view.numbers,
    view.warning,
    view.typed.node,
    view.strip.node,
    view.status,
    view.note,
    el("div", "foot", view.lessons.node, view.twin.node),
  );
  view.attach = (figure) => {
    const detach = attach(view, figure);
    return () => {
      view.running = false;
      view.run = null;
      view.desk?.close();
      detach();
    };
  };
  return view;
}

const key = (store) => JSON.stringify(read(store, SETTINGS));

/** The record, unpacked: its runs, and the weights that one of them ended with. */
function record(store) {
  const { runs, weights, range } = store.get("recorded");
  const numbers = new Uint16Array(bytesOf(weights).buffer);
  const [low, high] = range;
  return { runs, flat: Float64Array.from(numbers, (one) => low + (one / 65535) * (high - low)) };
}

/** What a run begins with: the recorded model at its end, or random weights. */
function begin(view) {
  const { store } = view;
  const of = key(store);
  view.record ??= record(store);
  const name = nameOf(read(store, SETTINGS));
  const found = view.record.runs[0];
  const settings = told(read(store, SETTINGS));
  const run = { of, settings, id: ++view.runs, losses: [], worst: 0, broken: "", name };
  if (store.get("step") < 0 && found.name === name) {
    const [, loss, before, fresh, previous, next] = found.points[found.points.length - 1];
    const whole = { before, fresh, previous, next };
    const known = { step: LAST, flat: view.record.flat, points: found.points, loss, whole, less: whole, off: NONE };
    return { ...run, ...known, recorded: true };
  }
  return { ...run, step: 0, flat: null, points: [], loss: null, whole: null, less: null, off: NONE, recorded: false };
}

/** Which heads are taken out, as the learner is told. */
const offOf = (store) => {
  const off = [0, 1].map(() => [false, false, false, false]);
  for (const [layer, head] of store.get("off")) off[layer][head] = true;
  return off;
};

/** How far the run is to go at once: to the next picture, or the next point of its curve. */
function goal({ store, running, run }) {
  if (!run.whole) return run.step; // what the weights do that it begins with
  const step = running ? LAST : run.recorded ? run.step : Math.max(0, store.get("step"));
  return Math.min(step, due(run.step), running ? run.step + store.get("speed") : LAST);
}

/** See to it that the run is what the state asks for: if not, have the next piece of it done. */
function pursue(view) {
  const { store } = view;
  const asked = store.get("step");
  const other = !view.run || view.run.of !== key(store) || (view.run.recorded && (asked >= 0 || view.running));
  const back = !view.busy && !view.running && !view.run?.recorded && asked < view.run?.step && !view.run.broken;
  if (other || back) view.run = begin(view);
  const { run } = view;
  if (view.busy) return;
  const upto = goal(view);
  const off = offOf(store);
  const out = JSON.stringify(off);
  if (run.broken || (upto <= run.step && run.whole && out === run.off)) return;
  view.busy = true;
  view.node.dataset.busy = "";
  view.desk ??= desk();
  const given = run.recorded ? run.flat : undefined;
  const job = { id: run.id, settings: run.settings, given, at: run.recorded ? run.step : 0, upto, off };
  const drove = view.running;
  view.desk.ask(job, (found) => {
    view.busy = false;
    if (found.id === view.run?.id) learned(view, found, out, drove);
    view.redraw();
  });
}

/** What the learner has found is known from now on. */
function learned(view, found, out, drove) {
  const { run, store } = view;
  Object.assign(run, { step: found.step, broken: found.broken, off: out });
  run.losses.push(...found.losses);
  run.worst = Math.max(run.worst, ...found.losses);
  if (found.losses.length) run.loss = found.losses[found.losses.length - 1];
  if (found.whole) {
    Object.assign(run, { flat: run.recorded ? run.flat : found.flat, whole: found.whole, less: found.less });
    const fresh = run.points.length ? run.points[run.points.length - 1][0] < run.step : true;
    if (!run.recorded && fresh && run.step === due(run.step - 1)) {
      run.points = [...run.points, point(run.step, run.losses, run.whole)];
      run.loss = run.points[run.points.length - 1][1] ?? run.loss;
      run.losses = [];
    }
  }
  if (view.running && (run.broken || run.step >= LAST)) rest(view);
  else if (drove && !view.running) store.set({ step: run.step }); // it was on its way when it was stopped
}

/** Stop, and say how far the run went; one that is done stays as a pale curve. */
function rest(view) {
  const { store, run } = view;
  view.running = false;
  if (!view.busy) store.set({ step: run.step, ...(run.step < LAST ? {} : keep(view)) });
  view.redraw();
}

/** The present run among those that stay, if it is worth it and not there yet. */
function keep({ store, run, record: known }) {
  const kept = store.get("kept");
  if (!run || run.recorded || run.step < WORTH) return {};
  const name = run.step < LAST ? `${run.name}, to ${run.step}` : run.name;
  if ([...known.runs, ...kept].some((one) => one.name === name)) return {};
  return { kept: [...kept, { name, points: run.points.map((one) => one.slice(0, 3)) }].slice(-KEPT) };
}

/** Another model, or other texts: a run of its own begins. */
function anew(view, changes) {
  const { store } = view;
  if (Object.entries(changes).every(([name, value]) => store.get(name) === value)) return;
  view.running = false;
  store.set({ ...keep(view), ...changes, off: [], step: 0 });
}

function press(view) {
  const { store, run } = view;
  if (view.running) return rest(view);
  const over = !run || run.recorded || run.broken || run.step >= LAST;
  if (over && store.get("step") !== 0) store.set({ step: 0 });
  if (over) view.run = null;
  view.running = true;
  view.redraw();
}

function draw(view, width) {
  const { store } = view;
  const place = `${width} ${store.get("heads")}`;
  if (view.place !== place) view.course = 0;
  view.place = place;
  view.width = width;
  pursue(view);
  const { run } = view;
  const words = understood(store.get("text"));
  const given = read(store, state);
  const ids = words.ids.map((id) => id % given.symbols);
  const n = ids.length;
  if (view.may?.length !== n * n)
    view.may = Uint8Array.from({ length: n * n }, (_, at) => Number(at % n <= Math.floor(at / n)));
  // a run that has only begun shows the weights that it begins with
  run.model ??= all.start(run.settings, run.flat);
  if (run.shown !== run.flat && run.flat) run.model.flat.set(run.flat);
  run.shown = run.flat;
  const { maps, guesses } = all.glance(run.model, ids, offOf(store));
  const even = Math.log(given.symbols);
  const settled = run.off === JSON.stringify(offOf(store)); // what is known is of these heads
  view.now = {
    ...given,
    ...run,
    settings: null,
    off: settled ? given.off : [],
    out: given.off,
    settled,
    running: view.running,
    even,
    name: run.name,
    maps,
    guesses,
    ids,
    tokens: words.names,
    kinds: words.kinds,
    length: all.LENGTH,
    previous: run.less?.previous,
    next: run.less?.next,
  };
  const { now } = view;
  view.settings.show(now);
  view.lessons.show(now);
  view.typed.show(now);
  const old = [...view.record.runs, ...given.kept];
  view.heads.show(now);
  view.course ||= view.picture.clientWidth || width; // asked for seldom: a browser lays all out for it
  view.curves.show({ width: view.course, old, mine: run, even });
  view.strip.show(now);
  view.twin.show();
  setText(view.numbers, numbers(now));
  setText(view.warning, broke(now) || warned(now));
  setText(view.note, noted(now));
  speak(view);
  if (!view.busy) delete view.node.dataset.busy;
}

/** How wide a label is: each is measured once in each font. */
function widths() {
  const known = new Map();
  return (view, canvas) => {
    const measure = measureWith(canvas.getContext("2d"), view.family);
    return (text) => {
      const name = `${view.family} ${text}`;
      if (!known.has(name)) known.set(name, measure(text));
      return known.get(name);
    };
  };
}

/** The line that is read aloud changes with the hand, and while a run goes on at its hundreds. */
function speak(view) {
  const { now, running } = view;
  const about = [running, running ? Math.floor(now.step / SPOKEN) : now.step, now.off, now.name];
  const heard = JSON.stringify(about);
  if (!now.whole || !now.settled || (running && heard === view.heard)) return;
  view.heard = heard;
  setText(view.status, said(now));
}

function settings(view) {
  const { store, alert } = view;
  const turn = button("start", () => press(view), { class: "turn" });
  const one = button("step", () => {
    view.running = false;
    const { run } = view;
    const from = !run || run.recorded || run.broken ? 0 : run.step;
    store.set({ step: Math.min(LAST, from + 1) });
  });
  const pick = (label, name, values, texts, act) => {
    const box = choice(label, texts, (place) => act({ [name]: values[place] }));
    return { node: box.node, show: () => box.show(values.indexOf(store.get(name))) };
  };
  const changed = (changes) => anew(view, changes);
  const rate = slide({
    store: { ...store, set: changed },
    tell: alert.tell,
    name: "rate",
    label: "learning rate",
    min: -4,
    max: 1,
    least: 1e-5,
    most: 10,
    value: (place) => Number((10 ** place).toPrecision(1)),
    place: Math.log10,
  });
  const parts = [
    pick("layers", "layers", [1, 2], ["one", "two"], changed),
    pick("steps a frame", "speed", SPEEDS, SPEEDS.map(String), (changes) => store.set(changes)),
    pick("heads a layer", "heads", [1, 4], ["one", "four"], changed),
    rate,
    labelled(view, "seed", "seed", 0, 9999, changed),
  ];
  const [layers, ...rest] = parts;
  const first = el("div", "controls", el("div", "moves", turn), layers.node, resetting(view));
  const node = el("div", {}, first, settingsFold(one, nodes(rest)));
  const show = (now) => {
    setText(turn, now.running ? "pause" : "start");
    parts.forEach((part) => part.show(now));
  };
  return { node, show };
}

/** The first state again: nothing runs, and nothing is kept. */
function resetting(view) {
  return reset(view, "picture", () => {
    view.running = false;
    view.run = null;
    view.typed.forget();
  });
}

/** A box for a number with its label before it. */
function labelled(view, label, name, least, most, change) {
  const box = numberBox({
    label,
    least,
    most,
    whole: true,
    thousands: false,
    change: (value) => change({ [name]: value }),
    tell: view.alert.tell,
  });
  const node = el("label", "typed", el("span", {}, label), box.node);
  return { node, show: () => box.show(view.store.get(name)) };
}

/** What the texts are, folded: symbols and periods. */
function lessons(view) {
  const changed = (changes) => anew(view, changes);
  const parts = [
    labelled(view, "symbols", "symbols", 1, 12, changed),
    labelled(view, "shortest period", "shortest", 1, 40, changed),
    labelled(view, "longest period", "longest", 1, 40, changed),
  ];
  const node = el(
    "details",
    "lessons",
    el("summary", {}, "the texts that it learns from"),
    el("div", "controls", nodes(parts)),
  );
  return together(node, parts);
}

/** The reader's own text. */
function typed(view) {
  const { store, alert } = view;
  let wrong = false;
  const take = () => {
    const { why } = understood(box.value);
    wrong = Boolean(why);
    box.toggleAttribute("aria-invalid", false);
    if (wrong) box.setAttribute("aria-invalid", "true");
    alert.tell(wrong ? `your text: ${why}; the last one is kept.` : "");
    if (!wrong && box.value.trim() !== store.get("text")) store.set({ text: box.value.trim() });
  };
  const box = el("input", {
    type: "text",
    inputmode: "text",
    maxlength: 200,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    oninput: take,
  });
  const node = el("div", "controls yours", el("label", "choose", el("span", {}, "your text: letters, or words"), box));
  const show = () => {
    if (!wrong && document.activeElement !== box && box.value !== store.get("text")) box.value = store.get("text");
  };
  const forget = () => {
    wrong = false;
    box.value = store.get("initial").text;
  };
  return { node, show, forget };
}

/** @type {import("../../core/types.d.ts").Kind} */
export const widget = { name: "A model that learns here", build, data, state, drawsTable: true };
export const maths = { learner, understood, nameOf, bend, script: () => learner.toString() };
