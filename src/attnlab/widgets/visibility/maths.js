// What is visible of a causal head's scores, and what is left of its weights: pure functions.

import { times } from "../core/maths/lists.js";

/** @typedef {{name: string, keys: number, first: number, last: number, top: number, perplexity: number, mass: number}} Measured */

/** Scores up to the diagonal, row after row, as a square with zeros. @type {(scores: number[], n: number) => Float64Array} */
export function square(scores, n) {
  const out = new Float64Array(n * n);
  for (let i = 0, at = 0; i < n; i++) for (let j = 0; j <= i; j++, at++) out[i * n + j] = scores[at];
  return out;
}

/**
 * Which key each token sees, flat: the last of its window and the first ones, of these the top.
 * @type {(scores: Float64Array, n: number, how: {window: number, first: number, top: number}) => Uint8Array}
 */
export function visible(scores, n, { window, first, top }) {
  const may = new Uint8Array(n * n);
  for (let i = 0; i < n; i++) {
    const keys = times(i + 1, (j) => j).filter((j) => j > i - window || j < first);
    const best = keys.sort((a, b) => scores[i * n + b] - scores[i * n + a] || a - b).slice(0, top);
    for (const j of best) may[i * n + j] = 1;
  }
  return may;
}

/** The share of each row's weight that is visible. @type {(full: Float64Array, may: Uint8Array, n: number) => number[]} */
export const kept = (full, may, n) =>
  times(n, (i) => times(n, (j) => full[i * n + j] * may[i * n + j]).reduce((sum, w) => sum + w, 0));

/**
 * The place of the measurement of the same kind that is nearest as a share of its text; −1: none.
 * @param {Measured[]} measured
 * @param {{n: number, length: number, window: number, first: number, top: number}} now
 */
export function nearest(measured, { n, length, window, first, top }) {
  const seen = Math.min(window + first, n);
  const [windowed, ranked] = [seen < n, top < seen];
  if (windowed && ranked) return -1;
  if (!windowed && !ranked) return measured.findIndex(({ keys }) => keys === length);
  const of = ranked ? "top" : "last";
  const share = (ranked ? top : window) / n;
  const far = measured.map((one) =>
    one[of] && one.first === (ranked ? 0 : first) ? Math.abs(Math.log(one[of] / length / share)) : Infinity,
  );
  const least = Math.min(...far);
  return least === Infinity ? -1 : far.indexOf(least);
}
