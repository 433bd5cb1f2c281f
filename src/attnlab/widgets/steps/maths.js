// One query's attention, step by step: pure functions, tested against NumPy.

import { attend, divisor, dot, scale, softmax } from "../core/maths/nn.js";

/** @import { Rows } from "../core/types.d.ts" */

/**
 * All that attention does for one query of `vectors`, each stage kept: the steps widget.
 * @param {{vectors: Rows, query: number, scaled: boolean, causal: boolean}} given
 * @returns {{raw: number[], ready: number[], may: boolean[], weights: number[], output: number[]}}
 */
export function worked({ vectors, query, scaled, causal }) {
  const raw = vectors.map((key) => dot(vectors[query], key));
  const ready = scale(raw, divisor(vectors[0].length, scaled));
  const may = vectors.map((_, j) => !causal || j <= query);
  const row = softmax(ready, may);
  return { raw, ready, may, weights: row, output: attend(row, vectors) };
}
