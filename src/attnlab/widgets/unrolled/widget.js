// A small translator without attention, unrolled: the reader types a sentence, steps through the
// model word by word, and puts other words in the place of its own. The model itself runs here.

import { times } from "../core/maths/lists.js";
import { unpackTensors } from "../core/maths/packing.js";
import {
  alertLine,
  button,
  el,
  nodes,
  note,
  reset,
  setText,
  settingsFold,
  statusLine,
  together,
} from "../core/view/dom.js";
import { stepKeys, stepper } from "../core/view/stepper.js";
import { visible } from "../core/view/text.js";
import { unrolled, width } from "./maths.js";
import { net } from "./net.js";
import { choices } from "./next.js";
import { EOS, said } from "./words.js";

const WEIGHTS = ["packed", "fine", "ranges", "shapes"];

const data = ["source_words", "target_words", ...WEIGHTS, "right", "initial"];
const state = ["sentence", "forced", "step"];

const MOST = 12; // words of a sentence, as Python has it
const SPECIAL = 3; // <pad>, <bos> and <eos> come first, as in every vocabulary of the book
const OWN = "_"; // in the line of forced words: here the model goes on with its own

const MOVES = { "to the start": -Infinity, previous: -1, next: 1, "to the end": Infinity };

const NOTE =
  "Above is what is read, in the middle s₀, all that the writer gets of it, below what is written. " +
  "The paler a word, the less probable it was. → reads from the left, ← from the right. Of s₀ a " +
  "number above 0 is blue, one below 0 orange. Press a word or use the arrow keys to see its step. A " +
  `forced word stands in brackets; “${OWN}” leaves a word to the model.`;

function build(store) {
  const get = (name) => store.get(name);
  const target = get("target_words");
  const tensors = unpackTensors(get("packed"), get("fine"), get("ranges"), get("shapes"));
  /** @type {any} */
  const view = {
    store,
    target,
    source: get("source_words"),
    names: target.map(visible),
    tensors,
    d: width(tensors),
    alert: alertLine(),
    status: statusLine(),
    go: (step) => store.set({ step }),
    force: (t, word) => put(view, { forced: { ...get("forced"), [t]: word } }, view.now.step),
  };
  const steps = stepper({
    what: "steps",
    moves: MOVES,
    last: () => view.now.last,
    at: () => Math.min(store.get("step"), view.now.last),
    go: view.go,
  });
  view.parts = [settings(view), steps, net(view), choices(view)];
  const [top, buttons, tables, next] = nodes(view.parts);
  view.node = el(
    "div",
    {},
    top,
    view.alert.node,
    el("div", { onkeydown: stepKeys(steps.by) }, buttons, tables),
    view.status,
    next,
    note(NOTE),
  );
  view.draw = () => draw(view);
  return view;
}

/** One of them, by chance. */
const any = (words) => words[Math.floor(Math.random() * words.length)];

const longest = (sentence) => Math.floor(1.5 * sentence.length) + 3;

/** Run the model; its last run is kept, because most of what the reader does only looks at it. */
function run(view, sentence, forced) {
  const key = JSON.stringify([sentence, forced]);
  if (view.kept?.key !== key) {
    const ids = Object.entries(forced).map(([t, word]) => [t, view.target.indexOf(word)]);
    const source = sentence.map((word) => view.source.indexOf(word));
    view.kept = { key, run: unrolled(view.tensors, source, Object.fromEntries(ids), longest(sentence)) };
  }
  return view.kept.run;
}

function draw(view) {
  const [sentence, forced, asked] = state.map((name) => view.store.get(name));
  const done = run(view, sentence, forced);
  const n = sentence.length;
  const last = n + done.steps.length;
  const step = Math.min(asked, last);
  const words = sentence.map(visible);
  const right = view.store.get("right") && [...words].reverse().concat(view.names[EOS]);
  view.now = { ...done, n, last, step, forced, t: step - n, words, right };
  view.parts.forEach((part) => part.show(view.now));
  setText(view.status, said(view));
}

/** Write another sentence or other forced words, and the step that the reader wants to see. */
function put(view, { sentence = view.store.get("sentence"), forced }, wanted) {
  const kept = Object.entries(forced).filter(([, word]) => word && word !== OWN);
  const changes = { sentence, forced: Object.fromEntries(kept) };
  const last = sentence.length + run(view, sentence, changes.forced).steps.length;
  view.store.set({ ...changes, step: Math.min(wanted, last) });
}

/** Whether words are typed without spaces: all are one character or special. */
const single = (known) => known.every((word) => /^(.|<\w+>)$/su.test(word));

function split(text, known) {
  if (!single(known)) return text.split(/\s+/).filter(Boolean);
  return (text.match(/<\w+>|./gsu) ?? []).filter((sign) => known.includes(sign) || sign.trim());
}

/** A line of known words to type. What cannot be used is named, and the old words stay. */
function line(view, { label, known, least, most, now, use }) {
  const text = () => now().join(single(known) ? "" : " ");
  const read = () => {
    const words = split(box.value, known);
    const odd = words.find((word) => !known.includes(word));
    const fits = words.length >= least && words.length <= most();
    const wrong =
      odd === undefined
        ? `${least} to ${most()} words are wanted, not ${words.length}`
        : `“${odd}” is not a word that the model knows, which are ${known.map(visible).join(" ")}`;
    const bad = odd !== undefined || !fits;
    view.alert.tell(bad ? `${label}: ${wrong}. What was there is kept.` : "");
    if (bad) return box.setAttribute("aria-invalid", "true");
    box.removeAttribute("aria-invalid");
    if (words.join() !== now().join()) use(words);
    return show();
  };
  const box = el("input", {
    type: "text",
    inputmode: "text",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    onchange: read,
  });
  const show = () => {
    if (!box.hasAttribute("aria-invalid")) box.value = text();
  };
  return { node: el("label", "typed", el("span", {}, label), box), show, use };
}

function settings(view) {
  const { store, source, target } = view;
  const lines = [
    line(view, {
      label: "sentence",
      known: source.slice(SPECIAL),
      least: 1,
      most: () => MOST,
      now: () => store.get("sentence"),
      // read from its beginning, unless the reader looks at the results
      use: (sentence) => put(view, { sentence, forced: {} }, view.now.step === view.now.last ? Infinity : 0),
    }),
    line(view, {
      label: "forced target",
      known: [OWN, ...target.slice(SPECIAL - 1)],
      least: 0,
      most: () => longest(store.get("sentence")),
      now() {
        const forced = store.get("forced");
        const last = Math.max(0, ...Object.keys(forced).map(Number));
        return times(last, (place) => forced[place + 1] ?? OWN);
      },
      use: (words) =>
        put(
          view,
          { forced: Object.fromEntries(words.map((word, place) => [place + 1, word])) },
          Math.max(view.now.step, view.now.n + 1),
        ),
    }),
  ];
  const [typed, forced] = nodes(lines);
  const drawn = () => times(store.get("sentence").length, () => any(source.slice(SPECIAL)));
  const others = button("others of this length", () => put(view, { sentence: drawn(), forced: {} }, Infinity));
  return together(
    el("div", {}, el("div", "controls", typed, others, reset(view, "sentence")), settingsFold(forced)),
    lines,
  );
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "A translator without attention, unrolled", build, data, state };
export * as maths from "./maths.js";
