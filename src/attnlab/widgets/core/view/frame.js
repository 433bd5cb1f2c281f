// One frame of a heat map: every head's weights and its picture, n_q × n_k pixels each. The
// style sheet makes the pixels large, which is far cheaper than painting cell by cell.

import { divisor, mask, rowAt, weights } from "../maths/nn.js";
import { unpackScores } from "../maths/packing.js";

/** @import { Head, May, Store, View } from "../types.d.ts" */

/**
 * A head: its raw scores, room for its weights, and a small canvas to paint them on.
 * @type {(scores: Float64Array|null, nQ: number, nK: number) => Head}
 */
export function makeHead(scores, nQ, nK) {
  const canvas = document.createElement("canvas");
  canvas.width = nK;
  canvas.height = nQ;
  const context = canvas.getContext("2d");
  const image = context.createImageData(nK, nQ);
  const pixels = new Uint32Array(image.data.buffer);
  return { scores, weights: new Float64Array(nQ * nK), canvas, context, image, pixels, nQ, nK };
}

/** All heads, from whichever form the numbers came in. @type {(store: Store) => Head[]} */
export function readHeads(store) {
  const [, nQ, nK] = store.get("shape");
  const heads = store.get("scores") ?? unpackScores(store.get("packed"), store.get("ranges"), nQ * nK);
  return heads.map((scores) => makeHead(Float64Array.from(scores), nQ, nK));
}

/**
 * Recompute and repaint all heads; colours is theme.js's ramp.
 * @type {(heads: Head[], how: {may: Uint8Array, by: number, colours: Uint32Array}) => void}
 */
export function frame(heads, { may, by, colours }) {
  for (const head of heads) {
    weights(head.scores, head.nQ, head.nK, may, by, head.weights);
    paint(head, may, colours);
  }
}

/** The same by a view's settings, which also has its mask and divisor from it. @type {(view: View) => void} */
export function weigh(view) {
  const { heads, store, ramp: colours } = view;
  view.may = mask(heads[0].nQ, heads[0].nK, store.get("causal"), store.get("mask"));
  view.by = divisor(store.get("d"), store.get("scaled"), store.get("temperature"));
  frame(heads, { may: view.may, by: view.by, colours });
}

/** Repaint one head from the weights that it holds. @type {(head: Head, may: May, colours: Uint32Array) => void} */
export function paint(head, may, colours) {
  for (let at = 0; at < head.weights.length; at++) {
    head.pixels[at] = colours[may[at] ? (255 * head.weights[at] + 0.5) | 0 : 256];
  }
  head.context.putImageData(head.image, 0, 0);
}

/** One row of a head as a head of its own, with a canvas of its own. @type {(head: Head, i: number) => Head} */
export function rowOf(head, i) {
  const row = makeHead(null, 1, head.nK);
  row.weights.set(rowAt(head.weights, i, head.nK));
  row.pixels.set(rowAt(head.pixels, i, head.nK));
  row.context.putImageData(row.image, 0, 0);
  return row;
}
