// Running MiniLM: the weights come when they are first wanted, the vectors of pieces as a sentence
// needs them; of the stored sentences the page has what the heads do without it.

import { unpackLogs } from "../../core/maths/packing.js";
import { assetOf } from "../../core/view/assets.js";
import { assembled, cosine, read } from "./model.js";
import { taken, unpack } from "./unpack.js";
import { cut, numbered } from "./wordpiece.js";

/** Where in the bytes that travel with a widget the parts of the asset begin. */
function places(store) {
  const { main, pieces, shard } = store.get("sizes");
  const d = store.get("shapes")[0][1];
  const count = Math.ceil(pieces / shard);
  const rows = (k) => Math.min(shard, pieces - k * shard);
  const { size } = taken([[shard, d]]);
  const stored = main + (count - 1) * size + taken([[rows(count - 1), d]]).size;
  return {
    main,
    stored,
    d,
    shard: (k) => ({ rows: rows(k), from: main + k * size, to: main + k * size + taken([[rows(k), d]]).size }),
  };
}

/** The model and the numbers of its pieces, loaded once; a failure may be tried again. */
export function loaded(view) {
  const { store } = view;
  view.model ??= assetOf(store, store.get("asset"), 0, places(store).main)
    .then((bytes) => {
      const shapes = store.get("shapes");
      const names = new TextDecoder().decode(bytes.subarray(taken(shapes).size));
      const model = {
        ...assembled(unpack(bytes, shapes), store.get("sizes")),
        ids: numbered(names),
        shards: new Map(),
      };
      view.there = true;
      return model;
    })
    .catch((error) => {
      view.model = null;
      throw error;
    });
  return view.model;
}

/** The vectors of pieces by their numbers, those that are not there yet loaded together. */
async function vectors(view, { shards }, ids) {
  const { store } = view;
  const { shard: size } = store.get("sizes");
  const { d, shard } = places(store);
  const wanted = [...new Set(ids.map((id) => Math.floor(id / size)))].filter((k) => !shards.has(k));
  await Promise.all(
    wanted.map(async (k) => {
      const { rows, from, to } = shard(k);
      const bytes = await assetOf(store, `${store.get("asset")}-${k}`, from, to);
      shards.set(k, unpack(bytes, [[rows, d]])[0]);
    }),
  );
  return ids.map((id) => shards.get(Math.floor(id / size)).subarray((id % size) * d, ((id % size) + 1) * d));
}

/**
 * A text cut into pieces, with their vectors; or a sentence that says why it cannot be read.
 * @type {(view: any, text: string) => Promise<any>}
 */
export async function prepared(view, text) {
  const model = await loaded(view);
  const { most, special } = view.store.get("sizes");
  const { pieces, ids, odd } = cut(text, model.ids, special);
  const count = pieces.length - 2;
  if (!count) return { why: "The model finds no piece of a word in this text: type a sentence." };
  if (count > most - 2) {
    return { why: `This text makes ${count} pieces, and at most ${most - 2} are read here: shorten it.` };
  }
  return { text, model, tokens: pieces, odd, rows: await vectors(view, model, ids) };
}

/** The cosines of all last vectors, flat, n × n. */
function cosines({ n, states }, d) {
  const last = states[states.length - 1];
  const out = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) out[i * n + j] = cosine(last, d, i, last, j);
  return out;
}

/** A prepared text read with some heads off, and what came out with all on. */
export function found(ready, off) {
  const { model, rows, tokens, odd, text } = ready;
  ready.plain ??= read(model, rows);
  ready.last = off.length ? read(model, rows, off, ready.last ?? ready.plain) : ready.plain;
  const { last, plain } = ready;
  const [now, before] = [last, plain].map(({ states }) => states[states.length - 1]);
  ready.intact ??= cosines(plain, model.d);
  return {
    text,
    tokens,
    odd,
    off,
    seen: last.seen.flat(),
    near: last === plain ? ready.intact : cosines(last, model.d),
    intact: ready.intact,
    kept: tokens.map((_, i) => cosine(now, model.d, i, before, i)),
  };
}

/** The stored sentences as they would be found, with every head on. @type {(store: any) => Promise<any[]>} */
export async function stored(store) {
  const { layers, heads } = store.get("sizes");
  const bytes = await assetOf(store, `${store.get("asset")}-stored`, places(store).stored);
  let at = 0;
  return store.get("examples").map(({ text, tokens }) => {
    const n = tokens.length;
    const logs = unpackLogs(bytes.subarray(at), 0, layers * heads * n * n);
    at += 2 * logs.length;
    const seen = Array.from({ length: layers * heads }, (_, h) =>
      logs.subarray(h * n * n, (h + 1) * n * n).map((log) => Math.exp(log)),
    );
    const near = Float64Array.from(new Float32Array(bytes.slice(at, at + 4 * n * n).buffer));
    at += 4 * n * n;
    return { text, tokens, odd: [], off: [], seen, near, intact: near, kept: tokens.map(() => 1) };
  });
}
