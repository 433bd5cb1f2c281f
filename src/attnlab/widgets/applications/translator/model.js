// A Transformer that translates: encoder, decoder with a cache, beam search. Pure functions on lists
// of vectors, tested against PyTorch.

import { beamSearch } from "../../core/maths/beam.js";
import { affine, layerNorm, weights as softmaxRows } from "../../core/maths/nn.js";

/** @import { Hypothesis } from "../../core/types.d.ts" */

const [BOS, EOS] = [1, 2];
const TOP = 5; // most probable words that are kept of each step

/**
 * The model that tensors make, in the order in which Python carries them.
 * @param {Float32Array[]} tensors
 * @param {{heads: number, layers: number, post: boolean, tied: boolean, shared?: boolean, eps: number}} sizes
 * @returns {any}
 */
export function assembled(tensors, { heads, layers, post, tied, shared, eps }) {
  const rest = [...tensors];
  const pair = () => ({ weight: rest.shift(), bias: rest.shift() });
  const attention = () => ({ qkv: pair(), out: pair() });
  const source = rest.shift();
  const target = shared ? source : rest.shift();
  const output = { weight: tied ? target : rest.shift() };
  const stack = (cross) => {
    const blocks = Array.from({ length: layers }, () => ({
      attention: attention(),
      cross: cross && attention(),
      widen: pair(),
      narrow: pair(),
      norms: Array.from({ length: cross ? 3 : 2 }, pair),
    }));
    return { blocks, norm: post ? null : pair() };
  };
  const [encoder, decoder] = [stack(false), stack(true)];
  const d = encoder.blocks[0].norms[0].bias.length;
  return { source, target, output, encoder, decoder, d, heads, post, eps, off: [], temperature: 1 };
}

const plus = (x, y) => x.map((value, c) => value + y[c]);

/** x + part(norm(x)) for vectors xs, or the original's norm(x + part(x)). */
function around({ post, eps }, norm, xs, part) {
  const all = (vectors) => vectors.map((x) => layerNorm(x, norm.weight, norm.bias, eps));
  const added = part(post ? xs : all(xs));
  const sums = xs.map((x, i) => plus(x, added[i]));
  return post ? all(sums) : sums;
}

const feedForward = ({ widen, narrow }, xs) =>
  xs.map((x) =>
    affine(
      narrow,
      affine(widen, x).map((value) => Math.max(0, value)),
    ),
  );

/** Keys and values of some vectors. */
const project = ({ qkv }, xs, d) => ({
  keys: xs.map((x) => affine(qkv, x, d, 2 * d)),
  values: xs.map((x) => affine(qkv, x, 2 * d, 3 * d)),
});

/** The heads of a layer that are off. */
const silent = ({ off }, part, layer) => off.filter((one) => one[0] === part && one[1] === layer).map((one) => one[2]);

/**
 * Each x attends to all keys; the weights go to seen, [x][head]. A head that is off adds nothing.
 * Scores are divided by √d_k and the temperature.
 */
function attend({ d, heads, temperature }, layer, xs, { keys, values }, seen, quiet) {
  const width = d / heads;
  const by = Math.sqrt(width) * temperature;
  const every = new Uint8Array(keys.length).fill(1);
  return xs.map((x) => {
    const query = affine(layer.qkv, x, 0, d);
    const out = new Float32Array(d);
    seen.push(
      Array.from({ length: heads }, (_, h) => {
        const [from, to] = [h * width, (h + 1) * width];
        const scores = keys.map((key) => {
          let sum = 0;
          for (let c = from; c < to; c++) sum += query[c] * key[c];
          return sum;
        });
        const row = softmaxRows(scores, 1, keys.length, every, by);
        values.forEach((value, j) => {
          for (let c = from; c < to && !quiet.includes(h); c++) out[c] += row[j] * value[c];
        });
        return row;
      }),
    );
    return affine(layer.out, out);
  });
}

/** A token's vector, √d times its row, plus the clock hands of its position. */
function embed({ d }, table, id, position) {
  return table.slice(id * d, (id + 1) * d).map((value, c) => {
    const angle = position / 10000 ** ((c - (c % 2)) / d);
    return value * Math.sqrt(d) + (c % 2 ? Math.cos(angle) : Math.sin(angle));
  });
}

const finish = ({ eps }, { norm }, xs) => (norm ? xs.map((x) => layerNorm(x, norm.weight, norm.bias, eps)) : xs);

/**
 * Read a sentence: `memory` for each layer of the decoder, weights as seen[layer][token][head].
 * @type {(model: any, ids: number[]) => {memory: any[], seen: Float64Array[][][]}}
 */
export function encode(model, ids) {
  const { encoder, decoder, d } = model;
  let xs = ids.map((id, place) => embed(model, model.source, id, place));
  const seen = encoder.blocks.map((block, l) => {
    const [rows, quiet] = [[], silent(model, "encoder", l)];
    xs = around(model, block.norms[0], xs, (own) =>
      attend(model, block.attention, own, project(block.attention, own, d), rows, quiet),
    );
    xs = around(model, block.norms[1], xs, (own) => feedForward(block, own));
    return rows;
  });
  xs = finish(model, encoder, xs);
  return { memory: decoder.blocks.map(({ cross }) => project(cross, xs, d)), seen };
}

/**
 * Read one token after those in `past`, keys and values for each layer, or null at the beginning.
 * Returns the logits of the next, the new past, and the weights, decoder[layer][head] and cross.
 * @param {any} model
 * @param {any[]} memory
 * @param {any[]|null} past
 * @param {number} id
 * @returns {{logits: Float32Array, past: any[], decoder: Float64Array[][], cross: Float64Array[][]}}
 */
export function decode(model, memory, past, id) {
  const { decoder, d } = model;
  const caches = past ?? memory.map(() => ({ keys: [], values: [] }));
  let xs = [embed(model, model.target, id, caches[0].keys.length)];
  const [self, cross, grown] = [[], [], []];
  decoder.blocks.forEach((block, l) => {
    xs = around(model, block.norms[0], xs, (own) => {
      const added = project(block.attention, own, d);
      grown.push({ keys: [...caches[l].keys, ...added.keys], values: [...caches[l].values, ...added.values] });
      return attend(model, block.attention, own, grown[l], self, silent(model, "decoder", l));
    });
    xs = around(model, block.norms[1], xs, (own) =>
      attend(model, block.cross, own, memory[l], cross, silent(model, "cross", l)),
    );
    xs = around(model, block.norms[2], xs, (own) => feedForward(block, own));
  });
  const [x] = finish(model, decoder, xs);
  return { logits: affine(model.output, x), past: grown, decoder: self, cross };
}

/** log p of each word. @type {(logits: Float32Array) => Float64Array} */
export function logSoftmax(logits) {
  let [top, total] = [-Infinity, 0];
  for (const value of logits) if (value > top) top = value;
  for (const value of logits) total += Math.exp(value - top);
  total = Math.log(total);
  return Float64Array.from(logits, (value) => value - top - total);
}

/**
 * The places of the `count` largest values, the largest first; of equals the earlier comes first.
 * @type {(values: ArrayLike<number>, count: number) => number[]}
 */
export function largest(values, count) {
  const found = [];
  for (let at = 0; at < values.length; at++) {
    if (found.length === count && !(values[at] > values[found[count - 1]])) continue;
    if (found.length === count) found.pop();
    let place = found.length;
    while (place && values[at] > values[found[place - 1]]) place--;
    found.splice(place, 0, at);
  }
  return found;
}

/** What follows a hypothesis: the most probable words, and where the decoder looked. */
function next(model, memory, before, count) {
  const { logits, past, decoder, cross } = decode(model, memory, before.past, before.word);
  const logs = logSoftmax(logits);
  const order = largest(logs, Math.max(count, TOP)); // a sort of all would take longer than the model
  const top = order.slice(0, TOP).map((word) => [word, Math.exp(logs[word])]);
  const step = { top, decoder, cross };
  return order
    .slice(0, count)
    .map((word) => ({ before, word, past, step, p: Math.exp(logs[word]), logP: before.logP + logs[word] }));
}

/**
 * Beam search, a generator as beamSearch is one; returns the ranking, best first.
 * @param {any} model
 * @param {any[]} memory
 * @param {{beam: number, penalty: number, longest: number, told?: (one: Hypothesis) => void}} how `told` hears of each hypothesis before it grows
 * @returns {Generator<number, (Hypothesis & {n: number, score: number})[], void>}
 */
export function* search(model, memory, { beam, penalty, longest, told }) {
  const grow = (one) => {
    told?.(one);
    return next(model, memory, one, beam);
  };
  const start = { word: BOS, past: null, logP: 0 };
  const { ranking } = yield* beamSearch(start, { grow, beam, penalty, longest, eos: EOS });
  return ranking.map(({ one, ...how }) => ({ ...one, ...how }));
}
