// Queries, keys and values from three matrices: pure functions, tested against PyTorch.

import { divisor, mask, product, rowAt, scale, scores, weights } from "../core/maths/nn.js";

/** @import { Rows } from "../core/types.d.ts" */

/**
 * The first pair i < j with the widest gap between e_ij and e_ji; null where e is symmetric.
 * @type {(e: Rows) => {i: number, j: number, gap: number}|null|undefined}
 */
export function lopsided(e) {
  const near = 1e-9;
  const gaps = e.flatMap((row, i) =>
    row.slice(i + 1).map((score, after) => {
      const j = i + 1 + after;
      return { i, j, gap: Math.abs(score - e[j][i]) };
    }),
  );
  const widest = Math.max(0, ...gaps.map(({ gap }) => gap));
  if (widest <= near * Math.max(...e.flat().map(Math.abs))) return null;
  return gaps.find(({ gap }) => gap >= (1 - near) * widest);
}

/**
 * Attention with a query, a key and a value for each vector, each stage kept.
 * @param {{vectors: Rows, w_q: Rows, w_k: Rows, w_v: Rows, scaled: boolean, causal: boolean}} given
 * @returns {{q: Rows, k: Rows, v: Rows, raw: Rows, ready: Rows, may: Uint8Array, weights: Rows, output: Rows}}
 */
export function roles({ vectors, w_q: wQ, w_k: wK, w_v: wV, scaled, causal }) {
  const [q, k, v] = [wQ, wK, wV].map((matrix) => product(vectors, matrix));
  const n = vectors.length;
  const raw = scores(q, k);
  const by = divisor(wQ[0].length, scaled);
  const ready = raw.map((row) => scale(row, by));
  const may = mask(n, n, causal);
  const flat = weights(raw.flat(), n, n, may, by);
  const rows = vectors.map((_, i) => Array.from(rowAt(flat, i, n)));
  return { q, k, v, raw, ready, may, weights: rows, output: product(rows, v) };
}
