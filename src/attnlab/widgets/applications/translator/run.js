// Running the translator: the weights come when they are first wanted, a sentence is searched word
// by word so that the page stays alive, and what was found is then shown word by word.

import { path } from "../../core/maths/beam.js";
import { unpackRows } from "../../core/maths/packing.js";
import { assetOf } from "../../core/view/assets.js";
import { assembled, encode, search } from "./model.js";
import { cutting, pieces, words } from "./reading.js";

const PACE = 260; // milliseconds from word to word
const LOOK = 110; // and where they are shown as they come, so that the eye follows

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** After what the page has to do meanwhile; a timer would wait for 4 ms each time. */
const soon = () =>
  new Promise((go) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      go(null);
    };
    port2.postMessage(0);
  });

/** The model, and what it reads and writes, loaded once; a failure may be tried again. */
export function loaded(view) {
  const { store } = view;
  view.model ??= assetOf(store)
    .then((bytes) => {
      const page = cutting(store);
      const size = Math.max(0, bytes.length - (page?.bytes ?? 0));
      const tensors = unpackRows(bytes.subarray(0, size), store.get("shapes"));
      view.reader = page ? pieces(bytes.subarray(size), page) : words(store);
      view.there = true;
      return assembled(tensors, store.get("sizes"));
    })
    .catch((error) => {
      view.model = null;
      throw error;
    });
  return view.model;
}

/** What decides the translation, and that alone. */
const wanted = ({ store }) => ["sentence", "beam", "penalty", "temperature", "off"].map((name) => store.get(name));

/** Whether the model is changed by a switch or a temperature. @type {(store: any) => boolean} */
export const changed = (store) => store.get("temperature") !== 1 || store.get("off").length > 0;

/** Translate what the store asks for, unless that is done or under way. */
export async function translate(view) {
  const [sentence, beam, penalty, temperature, off] = wanted(view);
  const key = JSON.stringify([sentence, beam, penalty, temperature, off]);
  if (view.key === key) return view.busy || view.play?.();
  Object.assign(view, { key, busy: true });
  const late = () => view.gone || view.key !== key;
  try {
    if (!view.there) view.line.price("loading …");
    const model = await loaded(view);
    const { ids, names, odd } = view.reader.read(sentence);
    const longest = view.reader.longest(ids.length);
    let most = 0;
    const told = (one) => {
      const words = path(one).map(({ word }) => word);
      if (words.length > most) view.writing?.(view.reader.text(words)); // of a beam, the best
      most = Math.max(most, words.length);
    };
    const run = async (machine, heard) => {
      const { memory, seen } = encode(machine, ids);
      const work = search(machine, memory, { beam, penalty, longest, told: heard });
      let found = work.next();
      for (; !found.done; found = work.next()) {
        await (heard && view.writing && !still() ? new Promise((go) => setTimeout(go, LOOK / beam)) : soon());
        if (late()) return null;
      }
      return { seen, ranking: found.value, steps: path(found.value[0]) };
    };
    const found = await run({ ...model, temperature, off }, told);
    const plain = found && (changed(view.store) ? await run(model) : found); // with every head on
    if (!plain) return null;
    view.result = { sentence: names, odd, beam, penalty, plain: plain.steps, ...found };
    Object.assign(view, { busy: false, writing: null });
    view.play?.();
    view.redraw();
  } catch (error) {
    if (!late()) failed(view, error);
  }
  return null;
}

function failed(view, error) {
  Object.assign(view, { key: null, busy: false, asked: false, play: null, writing: null });
  view.written?.remove();
  view.line.price();
  view.alert.tell(`The model cannot be used: ${error.message}.`);
}

/**
 * Cut a text into pieces, for which the table must be there; `go` on with what they are, unless
 * the reader has asked for something else meanwhile.
 * @type {(view: any, text: string, go: (found: {count: number, odd: string[]}) => void) => Promise<void>}
 */
export async function cutText(view, text, go) {
  view.wish = text;
  const late = () => view.gone || view.wish !== text;
  try {
    if (!view.there) view.line.price("loading …");
    await loaded(view);
    view.line.price();
    if (!late()) go(view.reader.read([text]));
  } catch (error) {
    if (!late()) failed(view, error);
  }
}

/** Show the result from its first word on, a word at a time, until a hand takes over. */
export function playing(view) {
  view.play = null;
  if (still()) return reveal(view, Infinity);
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
