// What one of three words becomes, and what is special about their arrows: pure functions.

import { oneQuery } from "../core/maths/nn.js";

/** @import { Rows } from "../core/types.d.ts" */

const NEAR = 1e-9; // what is no more than rounding

/**
 * Scores, weights and output of the query by the numbers that count, `columns`, and where the
 * output lies in the plane.
 * @param {{vectors: Rows, query: number, drawn: number[], whole: boolean}} given
 */
export function average({ vectors, query, drawn, whole }) {
  const columns = whole ? vectors[0].map((_, c) => c) : drawn;
  const counted = vectors.map((row) => columns.map((c) => row[c]));
  const found = oneQuery({ vectors: counted, query });
  return { ...found, columns, counted, at: drawn.map((c) => found.output[columns.indexOf(c)]) };
}

/**
 * What is special: three times the same vector, a query of zeros, other vectors of zeros (their
 * places), tips on one line.
 * @type {(counted: Rows, tips: Rows, query: number) => {same: boolean, silent: boolean, zeros: number[], line: boolean}}
 */
export function special(counted, [a, b, c], query) {
  const zero = (row) => row.every((x) => Math.abs(x) < NEAR);
  const gap = (from, to) => [to[0] - from[0], to[1] - from[1]];
  const [[x1, y1], [x2, y2]] = [gap(a, b), gap(a, c)];
  return {
    same: counted.every((row) => row.every((x, k) => Math.abs(x - counted[0][k]) < NEAR)),
    silent: zero(counted[query]),
    zeros: counted.flatMap((row, j) => (j !== query && zero(row) ? [j] : [])),
    line: Math.abs(x1 * y2 - x2 * y1) < NEAR,
  };
}
