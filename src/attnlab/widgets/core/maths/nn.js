// What networks are made of: pure functions on plain numbers, tested against PyTorch.
// Big matrices are flat, row after row: entry (i, j) of an n_q × n_k matrix is at i·n_k + j.

/** @import { Flat, Linear, May, Rows, Vec } from "../types.d.ts" */

/** @type {(a: Vec, b: Vec) => number} */
export const dot = (a, b) => a.reduce((sum, x, c) => sum + x * b[c], 0);

/** Raw scores e = q kᵀ of two lists of vectors, as rows. @type {(query: Rows, key: Rows) => Rows} */
export const scores = (query, key) => query.map((q) => key.map((k) => dot(q, k)));

/**
 * What a score is divided by before the softmax: √d (where scaled) times temperature.
 * @type {(d: number, scaled: boolean, temperature?: number) => number}
 */
export const divisor = (d, scaled, temperature = 1) => (scaled ? Math.sqrt(d) : 1) * temperature;

/** @type {(row: number[], by: number) => number[]} */
export const scale = (row, by) => row.map((score) => score / by);

/**
 * Which key each query may attend to, flat, 1 = may. Causal: the last query sees every key.
 * @type {(nQ: number, nK: number, causal?: boolean, given?: May|null) => Uint8Array}
 */
export function mask(nQ, nK, causal = false, given = null) {
  const may = new Uint8Array(nQ * nK).fill(1);
  for (let i = 0; i < nQ; i++) {
    for (let j = 0; j < nK; j++) {
      const at = i * nK + j;
      if ((given && !given[at]) || (causal && j > i + nK - nQ)) may[at] = 0;
    }
  }
  return may;
}

/**
 * Softmax of one row of flat scores / by, into out; a row with no allowed key becomes zeros.
 * @type {(out: Float64Array, flat: ArrayLike<number>, may: May, start: number, length: number, by: number) => void}
 */
function softmaxInto(out, flat, may, start, length, by) {
  let top = -Infinity;
  for (let at = start; at < start + length; at++) {
    if (may[at] && flat[at] > top) top = flat[at];
  }
  let total = 0;
  for (let at = start; at < start + length; at++) {
    out[at] = may[at] ? Math.exp((flat[at] - top) / by) : 0; // at most exp(0): no overflow
    total += out[at];
  }
  if (total > 0) for (let at = start; at < start + length; at++) out[at] /= total;
}

/** Row i of a flat matrix; the same memory. @type {(flat: any, i: number, nK: number) => any} */
export const rowAt = (flat, i, nK) => flat.subarray(i * nK, (i + 1) * nK);

/**
 * Weights α = softmax(flat / by) of a whole matrix; out may be given to save the memory.
 * @type {(flat: ArrayLike<number>, nQ: number, nK: number, may: May, by: number, out?: Float64Array) => Float64Array}
 */
export function weights(flat, nQ, nK, may, by, out = new Float64Array(nQ * nK)) {
  for (let i = 0; i < nQ; i++) softmaxInto(out, flat, may, i * nK, nK, by);
  return out;
}

/** Softmax of one short row, over the keys whose may[j] is true. @type {(row: number[], may?: May) => number[]} */
export function softmax(row, may = row.map(() => true)) {
  return Array.from(weights(row, 1, row.length, may, 1));
}

/** The weighted sum of vectors: y = Σ α_j v_j. @type {(row: Vec, values: Rows) => number[]} */
export const attend = (row, values) =>
  values[0].map((_, c) => row.reduce((sum, weight, j) => sum + weight * values[j][c], 0));

/**
 * All that attention does for one query of `vectors`, each stage kept.
 * @param {{vectors: Rows, query: number, scaled?: boolean, causal?: boolean}} given
 * @returns {{raw: number[], ready: number[], may: boolean[], weights: number[], output: number[]}}
 */
export function oneQuery({ vectors, query, scaled = true, causal = false }) {
  const raw = vectors.map((key) => dot(vectors[query], key));
  const ready = scale(raw, divisor(vectors[0].length, scaled));
  const may = vectors.map((_, j) => !causal || j <= query);
  const row = softmax(ready, may);
  return { raw, ready, may, weights: row, output: attend(row, vectors) };
}

/** Rows of vectors times a matrix: (n, d) (d, k) → (n, k). @type {(rows: Rows, matrix: Rows) => Rows} */
export const product = (rows, matrix) => rows.map((row) => attend(row, matrix));

/**
 * The ones of an identity matrix, in any shape: as many as fit on the diagonal.
 * @type {(rows: number, columns: number) => Rows}
 */
export const identity = (rows, columns) =>
  Array.from({ length: rows }, (_, r) => Array.from({ length: columns }, (__, c) => Number(r === c)));

/**
 * The average of several matrices of weights, entry by entry, into out.
 * @type {(matrices: Flat[], out?: Float64Array) => Float64Array}
 */
export function mean(matrices, out = new Float64Array(matrices[0].length)) {
  out.fill(0);
  for (const values of matrices) {
    for (let at = 0; at < out.length; at++) out[at] += values[at] / matrices.length;
  }
  return out;
}

/** Entropy −Σ α ln α of one row of weights, in nats; exp of it is a number of keys. @type {(row: Vec) => number} */
export const entropy = (row) => row.reduce((sum, weight) => (weight > 0 ? sum - weight * Math.log(weight) : sum), 0);

/**
 * W x + b of a flat matrix, or the rows from `from` up to `to` of it.
 * @type {(map: Linear, x: ArrayLike<number>, from?: number, to?: number) => any}
 */
export function affine({ weight, bias = null }, x, from = 0, to = weight.length / x.length) {
  const n = x.length;
  const out = weight instanceof Float32Array ? new Float32Array(to - from) : new Float64Array(to - from);
  for (let r = from; r < to; r++) {
    // each by itself: taken out of a list, they are boxed, and the loop takes twice as long
    let one = bias ? bias[r] : 0;
    let two = 0;
    let three = 0;
    let four = 0;
    let at = r * n;
    let c = 0;
    for (; c + 3 < n; c += 4, at += 4) {
      // four sums: none waits for another
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

/** @type {(x: Vec) => number} */
const average = (x) => x.reduce((sum, value) => sum + value, 0) / x.length;

/** One vector's mean and biased variance. @type {(x: Vec) => {mu: number, variance: number}} */
export function moments(x) {
  const mu = average(x);
  return { mu, variance: average(x.map((value) => (value - mu) ** 2)) };
}

/**
 * (x − mean) / √(variance + eps), then a factor and a sum of its own for each component.
 * @type {(x: any, gain: ArrayLike<number>, shift: ArrayLike<number>, eps: number) => any}
 */
export function layerNorm(x, gain, shift, eps) {
  const { mu, variance } = moments(x);
  const by = Math.sqrt(variance + eps);
  return x.map((value, c) => ((value - mu) / by) * gain[c] + shift[c]);
}
