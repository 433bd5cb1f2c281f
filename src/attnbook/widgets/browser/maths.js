// What every head of a sentence does, in numbers: pure functions, tested against NumPy.

import { times } from "../core/maths/lists.js";
import { entropy, rowAt, weights } from "../core/maths/nn.js";
import { unpackLogs } from "../core/maths/packing.js";

export const SPECIAL = ["[CLS]", "[SEP]"];
const FEWEST = 1e-5; // of a row that gives less than this to what is not hidden, nothing is known

/**
 * The log-weights of all heads of sentence k, each flat.
 * @type {(bytes: Uint8Array, lengths: number[], heads: number, k: number) => Float64Array[]}
 */
export function logWeights(bytes, lengths, heads, k) {
  const size = lengths[k] ** 2;
  const before = lengths.slice(0, k).reduce((sum, n) => sum + n * n, 0);
  return times(heads, (h) => unpackLogs(bytes, heads * before + h * size, size));
}

/**
 * Which key each query may attend to, flat: all, or all but [CLS] and [SEP].
 * @type {(tokens: string[], hide: boolean) => Uint8Array}
 */
export const seen = (tokens, hide) =>
  Uint8Array.from(tokens.flatMap(() => tokens.map((token) => !(hide && SPECIAL.includes(token)))));

/**
 * Weights from log-weights; where keys are left out, the others divided by their sum, or nothing
 * where that is too small to be known.
 * @type {(logs: Float64Array, n: number, may: Uint8Array, out?: Float64Array) => Float64Array}
 */
export function weighed(logs, n, may, out) {
  const found = weights(logs, n, n, may, 1, out);
  for (const i of times(n, (row) => row)) {
    const left = rowAt(logs, i, n).reduce((sum, log, j) => (may[i * n + j] ? sum + Math.exp(log) : sum), 0);
    if (left < FEWEST) rowAt(found, i, n).fill(0);
  }
  return found;
}

/** Which keys of query i each measure adds up; some lie outside the sentence. */
const KEYS = {
  key: (_, { key }) => [key],
  previous: (i) => [i - 1],
  next: (i) => [i + 1],
  same: (i) => [i],
  special: (_, { tokens }) => tokens.flatMap((token, j) => (SPECIAL.includes(token) ? j : [])),
};

/**
 * One row's measure; null where it has no such key, or nothing that is not hidden.
 * @type {(i: number, values: Float64Array, may: Uint8Array, what: any) => number|null}
 */
function rowMeasure(i, values, may, what) {
  if (!values.some((weight) => weight > 0)) return null;
  if (what.measure === "spread") return Math.exp(entropy(values));
  const keys = KEYS[what.measure](i, what).filter((j) => may[j]);
  return keys.length ? keys.reduce((sum, j) => sum + values[j], 0) : null;
}

/**
 * A head's measure in one row or, where that is null, its mean over all rows that have such a key;
 * null where none has. `what` is {tokens, row, key, measure}.
 * @param {Float64Array} values
 * @param {Uint8Array} may
 * @param {{tokens: string[], row: number|null, key: number|null, measure: string}} what
 * @returns {number|null}
 */
export function measured(values, may, what) {
  const n = what.tokens.length;
  const rows = what.row === null ? times(n, (i) => i) : [what.row];
  const found = rows
    .map((i) => rowMeasure(i, rowAt(values, i, n), rowAt(may, i, n), what))
    .filter((value) => value !== null);
  return found.length ? found.reduce((sum, value) => sum + value, 0) / found.length : null;
}

/**
 * The places of the greatest values, at most `most`, the first if equal.
 * @type {(values: (number|null)[], most?: number) => number[]}
 */
export const ranked = (values, most = 5) =>
  Array.from(values.keys())
    .filter((place) => values[place] !== null)
    .sort((a, b) => values[b] - values[a])
    .slice(0, most);
