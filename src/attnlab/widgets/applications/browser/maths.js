// What every head of a sentence does, in numbers: pure functions, tested against NumPy.

import { times } from "../../core/maths/lists.js";
import { entropy, rowAt } from "../../core/maths/nn.js";
import { unpackLogs } from "../../core/maths/packing.js";

const SPECIAL = ["[CLS]", "[SEP]"];
const FEWEST = 1e-5; // of a row that gives less than this to what is not hidden, nothing is known

/**
 * The places of [CLS] and [SEP] or, in a causal model, of the first token, which every query sees.
 * @type {(tokens: string[], causal: boolean) => number[]}
 */
export const special = (tokens, causal) =>
  causal ? [0] : tokens.flatMap((token, j) => (SPECIAL.includes(token) ? j : []));

/** How many weights of one head are kept: of a causal model the lower triangle. @type {(n: number, causal: boolean) => number} */
export const kept = (n, causal) => (causal ? (n * (n + 1)) / 2 : n * n);

/**
 * The weights of all heads of sentence k, each flat, with zeros above the diagonal if causal.
 * @type {(bytes: Uint8Array, lengths: number[], heads: number, k: number, causal: boolean) => Float64Array[]}
 */
export function stored(bytes, lengths, heads, k, causal) {
  const n = lengths[k];
  const size = kept(n, causal);
  const before = lengths.slice(0, k).reduce((sum, m) => sum + kept(m, causal), 0);
  return times(heads, (h) => {
    const found = unpackLogs(bytes, heads * before + h * size, size).map((log) => Math.exp(log));
    return causal ? squared(found, n) : found;
  });
}

/** A lower triangle, row after row, as a square. @type {(triangle: Float64Array, n: number) => Float64Array} */
function squared(triangle, n) {
  const out = new Float64Array(n * n);
  for (let i = 0; i < n; i++) out.set(triangle.subarray(kept(i, true), kept(i + 1, true)), i * n);
  return out;
}

/**
 * Which key each query may attend to, flat: those that are not hidden, in a causal model no later one.
 * @type {(tokens: string[], hide: boolean, causal: boolean) => Uint8Array}
 */
export function seen(tokens, hide, causal) {
  const hidden = hide ? special(tokens, causal) : [];
  return Uint8Array.from(tokens.flatMap((_, i) => tokens.map((__, j) => !(hidden.includes(j) || (causal && j > i)))));
}

/**
 * Weights as they are drawn: those of keys that may be looked at, divided by their sum, or nothing
 * where that is too small to be known.
 * @type {(given: Float64Array, n: number, may: Uint8Array, out?: Float64Array) => Float64Array}
 */
export function weighed(given, n, may, out = new Float64Array(n * n)) {
  for (let start = 0; start < n * n; start += n) {
    let left = 0;
    for (let at = start; at < start + n; at++) if (may[at]) left += given[at];
    const share = left < FEWEST ? 0 : 1 / left;
    for (let at = start; at < start + n; at++) out[at] = may[at] ? given[at] * share : 0;
  }
  return out;
}

/** Which keys of query i each measure adds up; some lie outside the sentence. */
const KEYS = {
  key: (_, { key }) => [key],
  previous: (i) => [i - 1],
  next: (i) => [i + 1],
  same: (i) => [i],
  special: (_, { tokens, causal }) => special(tokens, causal),
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
 * null where none has. `what` is {tokens, causal, row, key, measure}.
 * @param {Float64Array} values
 * @param {Uint8Array} may
 * @param {{tokens: string[], causal: boolean, row: number|null, key: number|null, measure: string}} what
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
