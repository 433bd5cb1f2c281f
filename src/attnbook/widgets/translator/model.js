// A Transformer that translates: weights out of bytes, encoder, decoder with a cache, beam search.
// Pure functions on lists of vectors, tested against PyTorch.

import { weights as softmaxRows } from "../core/maths/nn.js";

const [BOS, EOS] = [1, 2];
const TOP = 5; // most probable words that are kept of each step

/** Tensors from bytes: float32 of vectors and of each row's lowest and step, then the codes. */
export function unpackBytes(bytes, shapes) {
  const counts = shapes.map(([rows, columns]) => (columns ? 2 * rows : rows));
  const floats = counts.reduce((sum, count) => sum + count, 0);
  const size = shapes.reduce((sum, [rows, columns = 0]) => sum + rows * columns, 4 * floats);
  if (bytes.length !== size) throw new Error("the weights are those of another model");
  const exact = new Float32Array(bytes.slice(0, 4 * floats).buffer);
  let [at, byte] = [0, 4 * floats];
  return shapes.map(([rows, columns], place) => {
    const numbers = exact.subarray(at, at += counts[place]);
    if (!columns) return numbers;
    const out = new Float32Array(rows * columns);
    for (let r = 0; r < rows; r++) {
      const [low, step] = [numbers[r], numbers[rows + r]];
      for (let c = r * columns; c < (r + 1) * columns; c++) out[c] = low + step * bytes[byte++];
    }
    return out;
  });
}

/** The model that tensors make, in the order in which Python carries them. */
export function assembled(tensors, { heads, layers, post, tied, eps }) {
  const rest = [...tensors];
  const pair = () => ({ weight: rest.shift(), bias: rest.shift() });
  const attention = () => ({ qkv: pair(), out: pair() });
  const [source, target] = [rest.shift(), rest.shift()];
  const output = { weight: tied ? target : rest.shift() };
  const stack = (cross) => {
    const blocks = Array.from({ length: layers }, () => ({
      attention: attention(),
      cross: cross && attention(),
      widen: pair(), narrow: pair(),
      norms: Array.from({ length: cross ? 3 : 2 }, pair),
    }));
    return { blocks, norm: post ? null : pair() };
  };
  const [encoder, decoder] = [stack(false), stack(true)];
  const d = encoder.blocks[0].norms[0].bias.length;
  return { source, target, output, encoder, decoder, d, heads, post, eps };
}

/** W x + b, or the rows from `from` up to `to` of it. */
function affine({ weight, bias }, x, from = 0, to = weight.length / x.length) {
  const n = x.length;
  const out = new Float32Array(to - from);
  for (let r = from; r < to; r++) {
    let [one, two, three, four, at] = [bias ? bias[r] : 0, 0, 0, 0, r * n];
    let c = 0;
    for (; c + 3 < n; c += 4, at += 4) { // four sums: none waits for another
      one += weight[at] * x[c];
      two += weight[at + 1] * x[c + 1];
      three += weight[at + 2] * x[c + 2];
      four += weight[at + 3] * x[c + 3];
    }
    for (; c < n; c++, at++) one += weight[at] * x[c];
    out[r - from] = one + two + three + four;
  }
  return out;
}

const plus = (x, y) => x.map((value, c) => value + y[c]);

/** (x − mean) / √(variance + eps), then a factor and a sum of its own for each component. */
function layerNorm({ weight, bias }, x, eps) {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  const by = Math.sqrt(variance + eps);
  return x.map((value, c) => ((value - mean) / by) * weight[c] + bias[c]);
}

/** x + part(norm(x)) for vectors xs, or the original's norm(x + part(x)). */
function around({ post, eps }, norm, xs, part) {
  const all = (vectors) => vectors.map((x) => layerNorm(norm, x, eps));
  const added = part(post ? xs : all(xs));
  const sums = xs.map((x, i) => plus(x, added[i]));
  return post ? all(sums) : sums;
}

const feedForward = ({ widen, narrow }, xs) => xs.map((x) =>
  affine(narrow, affine(widen, x).map((value) => Math.max(0, value))));

/** Keys and values of some vectors. */
const project = ({ qkv }, xs, d) => ({
  keys: xs.map((x) => affine(qkv, x, d, 2 * d)),
  values: xs.map((x) => affine(qkv, x, 2 * d, 3 * d)),
});

/** Each x attends to all keys; the weights go to seen, [x][head]. */
function attend({ d, heads }, layer, xs, { keys, values }, seen) {
  const width = d / heads;
  const every = new Uint8Array(keys.length).fill(1);
  return xs.map((x) => {
    const query = affine(layer.qkv, x, 0, d);
    const out = new Float32Array(d);
    seen.push(Array.from({ length: heads }, (_, h) => {
      const [from, to] = [h * width, (h + 1) * width];
      const scores = keys.map((key) => {
        let sum = 0;
        for (let c = from; c < to; c++) sum += query[c] * key[c];
        return sum;
      });
      const row = softmaxRows(scores, 1, keys.length, every, Math.sqrt(width));
      values.forEach((value, j) => {
        for (let c = from; c < to; c++) out[c] += row[j] * value[c];
      });
      return row;
    }));
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

const finish = ({ eps }, { norm }, xs) => (norm ? xs.map((x) => layerNorm(norm, x, eps)) : xs);

/** Read a sentence: `memory` for each layer of the decoder, weights as seen[layer][token][head]. */
export function encode(model, ids) {
  const { encoder, decoder, d } = model;
  let xs = ids.map((id, place) => embed(model, model.source, id, place));
  const seen = encoder.blocks.map((block) => {
    const rows = [];
    xs = around(model, block.norms[0], xs, (own) =>
      attend(model, block.attention, own, project(block.attention, own, d), rows));
    xs = around(model, block.norms[1], xs, (own) => feedForward(block, own));
    return rows;
  });
  xs = finish(model, encoder, xs);
  return { memory: decoder.blocks.map(({ cross }) => project(cross, xs, d)), seen };
}

/**
 * Read one token after those in `past`, keys and values for each layer, or null at the beginning.
 * Returns the logits of the next, the new past, and the weights, decoder[layer][head] and cross.
 */
export function decode(model, memory, past, id) {
  const { decoder, d } = model;
  const caches = past ?? memory.map(() => ({ keys: [], values: [] }));
  let xs = [embed(model, model.target, id, caches[0].keys.length)];
  const [self, cross, grown] = [[], [], []];
  decoder.blocks.forEach((block, l) => {
    xs = around(model, block.norms[0], xs, (own) => {
      const added = project(block.attention, own, d);
      grown.push({
        keys: [...caches[l].keys, ...added.keys], values: [...caches[l].values, ...added.values],
      });
      return attend(model, block.attention, own, grown[l], self);
    });
    xs = around(model, block.norms[1], xs, (own) =>
      attend(model, block.cross, own, memory[l], cross));
    xs = around(model, block.norms[2], xs, (own) => feedForward(block, own));
  });
  const [x] = finish(model, decoder, xs);
  return { logits: affine(model.output, x), past: grown, decoder: self, cross };
}

/** log p of each word. */
export function logSoftmax(logits) {
  const top = Math.max(...logits);
  const total = Math.log(logits.reduce((sum, value) => sum + Math.exp(value - top), 0));
  return Float64Array.from(logits, (value) => value - top - total);
}

/** What follows a hypothesis: the most probable words, and where the decoder looked. */
function next(model, memory, before, count) {
  const { logits, past, decoder, cross } = decode(model, memory, before.past, before.word);
  const logs = logSoftmax(logits);
  const order = Array.from(logs.keys()).sort((a, b) => logs[b] - logs[a])
    .slice(0, Math.max(count, TOP));
  const top = order.slice(0, TOP).map((word) => [word, Math.exp(logs[word])]);
  const step = { top, decoder, cross };
  return order.slice(0, count).map((word) => ({
    before, word, past, step, p: Math.exp(logs[word]), logP: before.logP + logs[word],
  }));
}

/**
 * Beam search as attnbook.decoding's, one hypothesis after another: a generator that yields the
 * number of the word at which it is, and returns the ranking by log p / n^penalty.
 */
export function* search(model, memory, { beam, penalty, longest }) {
  const rank = (list) => list.sort((a, b) => b.score - a.score).slice(0, beam);
  let living = [{ word: BOS, past: null, logP: 0 }];
  let ended = [];
  for (let n = 1; ; n++) {
    const all = [];
    for (const one of living) {
      yield n;
      all.push(...next(model, memory, one, beam));
    }
    const kept = all.sort((a, b) => b.logP - a.logP).slice(0, beam)
      .map((one) => ({ ...one, n, score: one.logP / n ** penalty }));
    ended = rank([...ended, ...kept.filter(({ word }) => word === EOS)]);
    living = kept.filter(({ word }) => word !== EOS);
    // log p never rises and n^penalty is greatest at the end: nothing living can do better
    const bound = living.length ? living[0].logP / longest ** penalty : -Infinity;
    if (n === longest || (ended.length === beam && ended[beam - 1].score >= bound)
      || !living.length) return rank([...ended, ...living]);
  }
}

/** The words of a hypothesis from the first on, each with p, and with step of its writing. */
export const written = (one) => (one.before ? [...written(one.before), one] : []);
