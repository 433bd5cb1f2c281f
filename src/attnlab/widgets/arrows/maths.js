// What one of three words becomes, and what is special about their arrows: pure functions.

import { oneQuery } from "../core/maths/nn.js";

/** @import { Rows } from "../core/types.d.ts" */

const NEAR = 1e-9; // what is no more than rounding

/** Scores, weights and output of the query. @type {(given: {vectors: Rows, query: number}) => any} */
export const average = (given) => oneQuery(given);

/**
 * What is special: three times the same vector, a query of zeros, other vectors of zeros (their
 * places), tips on one line.
 * @type {(tips: Rows, query: number) => {same: boolean, silent: boolean, zeros: number[], line: boolean}}
 */
export function special(tips, query) {
  const [a, b, c] = tips;
  const zero = (row) => row.every((x) => Math.abs(x) < NEAR);
  const gap = (from, to) => [to[0] - from[0], to[1] - from[1]];
  const [[x1, y1], [x2, y2]] = [gap(a, b), gap(a, c)];
  return {
    same: tips.every((row) => row.every((x, k) => Math.abs(x - a[k]) < NEAR)),
    silent: zero(tips[query]),
    zeros: tips.flatMap((row, j) => (j !== query && zero(row) ? [j] : [])),
    line: Math.abs(x1 * y2 - x2 * y1) < NEAR,
  };
}
