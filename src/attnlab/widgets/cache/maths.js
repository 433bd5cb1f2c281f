// The bytes of a cache as plain numbers, as `attnlab.models.caches` counts them.

/**
 * A model: `kept` holds, for some layers together, how many numbers a token leaves, after how many
 * tokens they forget (0: never), and how many tokens share an entry; `states` are bytes that stay.
 * @typedef {{name: string, context: number, parameters: number, states: number, kept: number[][]}} Model
 */

const LIMIT = 2 ** 30; // tokens: a text that long is as long as any

/**
 * batch · (Σ numbers · ⌊min(n, window) / pooled⌋ · bits / 8 + states)
 * @type {(model: Model, n: number, batch: number, bits: number) => number}
 */
export function cacheBytes({ kept, states }, n, batch, bits) {
  const numbers = kept.reduce(
    (sum, [each, window, pooled]) => sum + each * Math.floor((window ? Math.min(n, window) : n) / pooled),
    0,
  );
  return batch * (Math.ceil((numbers * bits) / 8) + states);
}

/**
 * What one more token adds to a text of n tokens; full windows add nothing.
 * @type {(model: Model, n: number, bits: number) => number}
 */
export function perToken({ kept }, n, bits) {
  const growing = kept.filter(([, window]) => !window || n < window);
  return (growing.reduce((sum, [each, , pooled]) => sum + each / pooled, 0) * bits) / 8;
}

/** @type {(model: Model, bits: number) => number} */
export const weightBytes = ({ parameters }, bits) => Math.ceil((parameters * bits) / 8);

/**
 * The longest texts whose cache fits beside the weights: −1 where they alone do not, and Infinity
 * where the cache stops growing before.
 * @type {(model: Model, memory: number, batch: number, bits: number, weightBits: number) => number}
 */
export function room(model, memory, batch, bits, weightBits) {
  const left = memory - weightBytes(model, weightBits);
  const fits = (n) => cacheBytes(model, n, batch, bits) <= left;
  if (!fits(0)) return -1;
  if (fits(LIMIT)) return Infinity;
  let [low, high] = [0, LIMIT]; // low fits, high does not
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Heights of labels, so that no two are nearer than `gap`, and all stay from `least` to `most`.
 * @type {(wanted: number[], gap: number, least: number, most: number) => number[]}
 */
export function apart(wanted, gap, least, most) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b] || a - b);
  const found = wanted.slice();
  let next = least;
  for (const i of order) {
    found[i] = Math.max(wanted[i], next);
    next = found[i] + gap;
  }
  next = most;
  for (const i of order.reverse()) {
    found[i] = Math.min(found[i], next);
    next = found[i] - gap;
  }
  return found;
}

export { sized } from "../parts/units.js";
