// Running the translator: the weights come when they are first wanted, a sentence is searched word
// by word so that the page stays alive, and what was found is then shown word by word.

import { path } from "../core/maths/beam.js";
import { unpackRows } from "../core/maths/packing.js";
import { assetOf } from "../core/view/assets.js";
import { assembled, encode, search } from "./model.js";

const MORE = 10; // words than the source has may be written, as Python has it
const PACE = 260; // milliseconds from word to word

const soon = () =>
  new Promise((go) => {
    setTimeout(go);
  });

/** The model, loaded once; a failure may be tried again. */
export function loaded(view) {
  const { store } = view;
  view.model ??= assetOf(store)
    .then((bytes) => {
      view.there = true;
      return assembled(unpackRows(bytes, store.get("shapes")), store.get("sizes"));
    })
    .catch((error) => {
      view.model = null;
      throw error;
    });
  return view.model;
}

/** What decides the translation, and that alone. */
const wanted = ({ store }) => ["sentence", "beam", "penalty"].map((name) => store.get(name));

/** Translate what the store asks for, unless that is done or under way. */
export async function translate(view) {
  const [sentence, beam, penalty] = wanted(view);
  const key = JSON.stringify([sentence, beam, penalty]);
  if (view.key === key) return view.busy || view.play?.();
  Object.assign(view, { key, busy: true });
  const late = () => view.gone || view.key !== key;
  try {
    if (!view.there) view.line.price("loading …");
    const model = await loaded(view);
    const known = view.store.get("source_words");
    const { memory, seen } = encode(
      model,
      sentence.map((word) => known.indexOf(word)),
    );
    const work = search(model, memory, { beam, penalty, longest: sentence.length + MORE });
    let found = work.next();
    for (; !found.done; found = work.next()) {
      await soon();
      if (late()) return null;
    }
    const [best] = found.value;
    view.result = { sentence, beam, penalty, seen, ranking: found.value, steps: path(best) };
    view.busy = false;
    view.play?.();
    view.redraw();
  } catch (error) {
    if (late()) return null;
    Object.assign(view, { key: null, busy: false, asked: false, play: null });
    view.line.price();
    view.alert.tell(`The model cannot be used: ${error.message}.`);
  }
  return null;
}

/** Show the result from its first word on, a word at a time, until a hand takes over. */
export function playing(view) {
  view.play = null;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return reveal(view, Infinity);
  const tick = (count) => {
    reveal(view, count);
    if (count < view.result.steps.length) view.timer = setTimeout(tick, PACE, count + 1);
  };
  return tick(1);
}

export const halt = (view) => clearTimeout(view.timer);

/** Show so many words, the last of them pinned. With all of them, the map is shown as a whole. */
export function reveal({ store, result }, count) {
  const all = count >= result.steps.length;
  const row = all || !count ? null : count - 1;
  store.set({ shown: all ? null : count, ...(store.get("part") === "encoder" ? {} : { row }) });
}
