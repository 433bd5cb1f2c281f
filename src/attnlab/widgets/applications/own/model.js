// MiniLM's forward pass: a BERT with post-norm blocks and biases. Vectors lie flat, one after another;
// there are always a multiple of four, so that each weight that is read serves four of them.

import { weights as softmaxRows } from "../../core/maths/nn.js";
import { gelu } from "../../parts/gelu.js";

/** @typedef {{weight: Float32Array, bias: Float32Array}} Pair */

const FOUR = 4;

/** How many rows are kept for n vectors. @type {(n: number) => number} */
const padded = (n) => FOUR * Math.ceil(n / FOUR);

/**
 * The model that tensors make, in the order in which Python carries them.
 * @param {Float32Array[]} tensors
 * @param {{heads: number, layers: number, eps: string | number}} sizes
 * @returns {any}
 */
export function assembled(tensors, { heads, layers, eps }) {
  const rest = [...tensors];
  /** @type {() => Pair} */
  const pair = () => ({ weight: rest.shift(), bias: rest.shift() });
  const positions = rest.shift();
  const norm = pair();
  const blocks = Array.from({ length: layers }, () => {
    const [qkv, out] = [pair(), pair()];
    const [widen, narrow] = [pair(), pair()];
    return { qkv, out, widen, narrow, norms: [pair(), pair()] };
  });
  return { positions, norm, blocks, heads, d: norm.bias.length, eps: Number(eps) };
}

/**
 * W x + b for every vector of x. Two rows of W meet four vectors at once: of what is read, the most
 * is used twice or four times.
 * @type {(map: Pair, x: Float64Array) => Float64Array}
 */
export function linear({ weight, bias }, x) {
  const m = bias.length;
  const d = weight.length / m;
  const out = new Float64Array((x.length / d) * m);
  for (let start = 0, to = 0; start < x.length; start += FOUR * d, to += FOUR * m) {
    const [second, third, fourth] = [start + d, start + 2 * d, start + 3 * d];
    for (let r = 0; r < m; r += 2) {
      const s = Math.min(r + 1, m - 1); // the last row of an odd number meets itself
      const [upper, lower] = [r * d, s * d];
      let a1 = bias[r];
      let a2 = a1;
      let a3 = a1;
      let a4 = a1;
      let b1 = bias[s];
      let b2 = b1;
      let b3 = b1;
      let b4 = b1;
      for (let c = 0; c < d; c++) {
        const a = weight[upper + c];
        const b = weight[lower + c];
        const x1 = x[start + c];
        const x2 = x[second + c];
        const x3 = x[third + c];
        const x4 = x[fourth + c];
        a1 += a * x1;
        a2 += a * x2;
        a3 += a * x3;
        a4 += a * x4;
        b1 += b * x1;
        b2 += b * x2;
        b3 += b * x3;
        b4 += b * x4;
      }
      out[to + r] = a1;
      out[to + m + r] = a2;
      out[to + 2 * m + r] = a3;
      out[to + 3 * m + r] = a4;
      out[to + s] = b1;
      out[to + m + s] = b2;
      out[to + 2 * m + s] = b3;
      out[to + 3 * m + s] = b4;
    }
  }
  return out;
}

/** Each vector of x + added, its mean taken out and its variance made 1; in the place of x. */
function normed(x, added, { weight, bias }, eps) {
  const d = bias.length;
  for (let start = 0; start < x.length; start += d) {
    let mu = 0;
    let variance = 0;
    for (let at = start; at < start + d; at++) {
      if (added) x[at] += added[at];
      mu += x[at] / d;
    }
    for (let at = start; at < start + d; at++) variance += (x[at] - mu) ** 2 / d;
    const by = Math.sqrt(variance + eps);
    for (let c = 0; c < d; c++) x[start + c] = ((x[start + c] - mu) / by) * weight[c] + bias[c];
  }
  return x;
}

/** What the heads of a layer give, side by side, and their weights; those that are off give 0. */
function attended({ heads, d }, { qkv }, x, n, off) {
  const all = linear(qkv, x);
  const out = new Float64Array(x.length);
  const width = d / heads;
  const every = new Uint8Array(n * n).fill(1);
  const seen = Array.from({ length: heads }, (_, h) => {
    const scores = new Float64Array(n * n);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const [q, k] = [3 * d * i + h * width, 3 * d * j + d + h * width];
        let sum = 0;
        for (let c = 0; c < width; c++) sum += all[q + c] * all[k + c];
        scores[i * n + j] = sum;
      }
    }
    const rows = softmaxRows(scores, n, n, every, Math.sqrt(width));
    for (let i = 0; i < n && !off.includes(h); i++) {
      for (let j = 0; j < n; j++) {
        const [weight, to, v] = [rows[i * n + j], d * i + h * width, 3 * d * j + 2 * d + h * width];
        for (let c = 0; c < width; c++) out[to + c] += weight * all[v + c];
      }
    }
    return rows;
  });
  return { out, seen };
}

/** The vectors that pieces begin with. @type {(model: any, rows: Float32Array[]) => Float64Array} */
function embedded({ positions, norm, d, eps }, rows) {
  const x = new Float64Array(padded(rows.length) * d);
  rows.forEach((row, i) => {
    for (let c = 0; c < d; c++) x[i * d + c] = row[c] + positions[i * d + c];
  });
  return normed(x, null, norm, eps);
}

const silent = (off, layer) => off.filter(([l]) => l === layer).map(([, head]) => head);
const same = (one, other) => one.length === other.length && one.every((head) => other.includes(head));

/**
 * A sentence read: `rows` are its pieces' embeddings. Weights as seen[layer][head], flat, n × n; the
 * vectors after each layer in `states`, the embeddings first. A head that is off adds nothing. Of
 * `before`, what was found of the same rows, the layers below the first change are taken over.
 * @param {any} model
 * @param {Float32Array[]} rows
 * @param {number[][]} [off] as [layer, head]
 * @param {any} [before]
 * @returns {{rows: Float32Array[], n: number, off: number[][], states: Float64Array[], seen: Float64Array[][]}}
 */
export function read(model, rows, off = [], before = null) {
  const n = rows.length;
  const known = before?.rows === rows ? before : { states: [embedded(model, rows)], seen: [], off: [] };
  const states = [known.states[0]];
  const seen = [];
  model.blocks.forEach((block, l) => {
    const quiet = silent(off, l);
    const kept = states[l] === known.states[l] && known.seen[l] && same(quiet, silent(known.off, l));
    if (kept) {
      states.push(known.states[l + 1]);
      seen.push(known.seen[l]);
      return;
    }
    const heads = attended(model, block, states[l], n, quiet);
    const x = normed(states[l].slice(), linear(block.out, heads.out), block.norms[0], model.eps);
    const added = linear(block.narrow, linear(block.widen, x).map(gelu));
    states.push(normed(x, added, block.norms[1], model.eps));
    seen.push(heads.seen);
  });
  return { rows, n, off, states, seen };
}

/** The cosine of two vectors of those that lie flat. @type {(x: Float64Array, d: number, i: number, y: Float64Array, j: number) => number} */
export function cosine(x, d, i, y, j) {
  let [product, one, other] = [0, 0, 0];
  for (let c = 0; c < d; c++) {
    const [a, b] = [x[i * d + c], y[j * d + c]];
    product += a * b;
    one += a * a;
    other += b * b;
  }
  return product / Math.sqrt(one * other);
}
