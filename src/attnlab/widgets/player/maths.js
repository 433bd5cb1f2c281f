// Alignments: the links that weights predict, and how they agree with the gold ones.

import { rowAt } from "../core/maths/nn.js";

/** How far below its threshold a weight is still a link: so exactly are packed weights carried. */
const NEAR = 1e-4;

/**
 * The places of all weights α ≥ θ: the links that a threshold predicts.
 * @type {(values: Float64Array, threshold: number) => number[]}
 */
export const linksAt = (values, threshold) => Array.from(values.keys()).filter((at) => values[at] >= threshold - NEAR);

/**
 * The place of each row's greatest weight, the first if equal.
 * @type {(values: Float64Array, nK: number) => number[]}
 */
export const greatest = (values, nK) =>
  Array.from({ length: values.length / nK }, (_, i) => {
    const row = rowAt(values, i, nK);
    return i * nK + row.indexOf(Math.max(...row));
  });

/**
 * Error rate, precision and recall of pairs of [links, gold links]; null for 0 / 0.
 * @type {(pairs: [number[], number[]][]) => (number|null)[]}
 */
export function agreement(pairs) {
  let [both, found, wanted] = [0, 0, 0];
  for (const [links, gold] of pairs) {
    both += links.filter((at) => gold.includes(at)).length;
    found += links.length;
    wanted += gold.length;
  }
  const share = (part, whole) => (whole ? part / whole : null);
  const agreed = share(2 * both, found + wanted);
  return [agreed === null ? null : 1 - agreed, share(both, found), share(both, wanted)];
}
