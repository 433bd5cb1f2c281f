// Masks by name, and what a masked score does to the weights: pure functions, tested against PyTorch.

import { rowAt, weights } from "../core/maths/nn.js";

/** @import { May } from "../core/types.d.ts" */

/** Masks by name: may position p (the query's, the two sequences ending together) see key j? */
export const MASKS = {
  all: () => true,
  causal: (p, j) => j <= p,
  past: (p, j) => j < p,
  padding: (_, j, length) => j < length,
  both: (p, j, length) => j <= p && j < length,
  window: (p, j) => p - 2 < j && j <= p,
};

/**
 * A mask by name, flat, as zeros and ones.
 * @type {(name: string, nQ: number, nK: number, length?: number) => number[]}
 */
export function namedMask(name, nQ, nK, length = nK) {
  return Array.from({ length: nQ * nK }, (_, at) =>
    Number(MASKS[name](Math.floor(at / nK) + nK - nQ, at % nK, length)),
  );
}

/** What a masked score becomes before the softmax; "none" and "nan" differ in empty rows only. */
const FILLS = { none: -Infinity, nan: -Infinity, "-1e10": -1e10, zero: 0 };

/**
 * Weights of flat scores / by under a mask, as they come out when masked scores are filled.
 * @type {(flat: Float64Array, nQ: number, nK: number, may: May, by: number, fill: string) => Float64Array}
 */
export function filledWeights(flat, nQ, nK, may, by, fill) {
  const left = fill === "none" || fill === "nan";
  const entered = left ? flat : flat.map((score, at) => (may[at] ? score / by : FILLS[fill]));
  const out = left ? weights(flat, nQ, nK, may, by) : weights(entered, nQ, nK, new Uint8Array(nQ * nK).fill(1), 1);
  if (fill === "nan") for (const i of emptyRows(nQ, nK, may)) out.fill(NaN, i * nK, (i + 1) * nK);
  return out;
}

/** The rows that may attend to nothing. @type {(nQ: number, nK: number, may: any) => number[]} */
export const emptyRows = (nQ, nK, may) =>
  Array.from({ length: nQ }, (_, i) => i).filter((i) => !rowAt(may, i, nK).includes(1));

/**
 * ∂α/∂e = α (1 − α); a masked score was replaced by a constant, so nothing flows back to it.
 * @type {(values: Float64Array, may: May) => Float64Array}
 */
export const gradient = (values, may) => values.map((weight, at) => (may[at] ? weight * (1 - weight) : 0));
