// A sentence read and written by a GRU: pure functions on plain numbers, tested against PyTorch.

import { affine, rowAt, softmax } from "../core/maths/nn.js";

/** @import { Flat, Vec } from "../core/types.d.ts" */

/** @type {(x: number) => number} */
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/**
 * One step of a GRU as PyTorch defines it: reset r, update z, and the proposal.
 * @type {(gru: Flat[], x: ArrayLike<number>, h: any) => any}
 */
export function gruCell([wX, wH, bX, bH], x, h) {
  const d = h.length;
  const fromX = affine({ weight: wX, bias: bX }, x);
  const fromH = affine({ weight: wH, bias: bH }, h);
  return h.map((old, c) => {
    const r = sigmoid(fromX[c] + fromH[c]);
    const z = sigmoid(fromX[d + c] + fromH[d + c]);
    return (1 - z) * Math.tanh(fromX[2 * d + c] + r * fromH[2 * d + c]) + z * old;
  });
}

/** How many numbers s_0 has: as many as the summary's bias. @type {(tensors: Float64Array[]) => number} */
export const width = (tensors) => tensors[10].length;

/**
 * A GRU encoder–decoder without attention, on one sentence: the states of both readers, word by
 * word; s_0, s_1, …; and of each step of the decoder what it reads, p of each next word, the best
 * one and the one handed on, which `forced` may replace. It ends at eos or after `longest`.
 * @param {Float64Array[]} tensors
 * @param {number[]} source
 * @param {Record<number, number>} forced
 * @param {number} longest
 * @param {number} [bos]
 * @param {number} [eos]
 * @returns {{forward: Vec[], backward: Vec[], states: Vec[], steps: {reads: number, p: number[], best: number, word: number}[]}}
 */
export function unrolled(tensors, source, forced, longest, bos = 1, eos = 2) {
  const pair = (at) => ({ weight: tensors[at], bias: tensors[at + 1] });
  const d = width(tensors);
  const read = (gru, ids) => {
    let state = new Float64Array(d / 2);
    return ids.map((id) => {
      state = gruCell(gru, rowAt(tensors[0], id, d), state);
      return state;
    });
  };
  const forward = read(tensors.slice(1, 5), source);
  const backward = read(tensors.slice(5, 9), [...source].reverse()).reverse();
  const ends = [...forward[source.length - 1], ...backward[0]];
  const states = [affine(pair(9), ends).map(Math.tanh)];
  const steps = [];
  for (let reads = bos; steps.length < longest && (!steps.length || reads !== eos); ) {
    const t = steps.length + 1;
    states.push(gruCell(tensors.slice(12, 16), rowAt(tensors[11], reads, d), states[t - 1]));
    const p = softmax(Array.from(affine(pair(16), states[t])));
    const best = p.indexOf(Math.max(...p));
    const word = forced[t] ?? best;
    steps.push({ reads, p, best, word });
    reads = word;
  }
  return { forward, backward, states, steps };
}
