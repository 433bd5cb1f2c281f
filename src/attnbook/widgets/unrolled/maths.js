// The model of the unrolled widget: weights out of the page's data, a GRU, and a sentence read and
// written. Pure functions on plain numbers, tested against PyTorch.

import { dot, softmax } from "../core/maths/nn.js";
import { bytesOf } from "../core/maths/packing.js";

/**
 * Tensors, as rows of numbers, from base64 of the upper 16 and of the lower 8 bits of each entry,
 * with each tensor's [lowest, highest] and its shape.
 */
export function unpackFine(packed, fine, ranges, shapes) {
  const upper = new DataView(bytesOf(packed).buffer);
  const lower = bytesOf(fine);
  let at = 0;
  return shapes.map(([rows, columns = 1], place) => {
    const [low, high] = ranges[place];
    const entry = () => {
      const whole = 256 * upper.getUint16(2 * at, true) + lower[at];
      at += 1;
      return low + (whole * (high - low)) / 16777215;
    };
    return Array.from({ length: rows }, () => Float64Array.from({ length: columns }, entry));
  });
}

/** W x + b; written as a loop, because a typed sentence asks for some hundred thousand products. */
const affine = (matrix, bias, x) => matrix.map((row, r) => {
  let [sum] = bias[r];
  for (let c = 0; c < row.length; c++) sum += row[c] * x[c];
  return sum;
});
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** One step of a GRU as PyTorch defines it: reset r, update z, and the proposal. */
export function gruCell([wX, wH, bX, bH], x, h) {
  const [fromX, fromH, d] = [affine(wX, bX, x), affine(wH, bH, h), h.length];
  return h.map((old, c) => {
    const r = sigmoid(fromX[c] + fromH[c]);
    const z = sigmoid(fromX[d + c] + fromH[d + c]);
    return (1 - z) * Math.tanh(fromX[2 * d + c] + r * fromH[2 * d + c]) + z * old;
  });
}

const norm = (vector) => Math.sqrt(dot(vector, vector));

/**
 * A GRU encoder–decoder without attention, on one sentence: the states of both readers, word by
 * word; s_0, s_1, …; and of each step of the decoder what it reads, p of each next word, the best
 * one and the one handed on, which `forced` may replace. It ends at eos or after `longest`.
 */
export function unrolled(tensors, source, forced, longest, bos = 1, eos = 2) {
  const [words, wS, bS, targets, wO, bO] = [0, 9, 10, 11, 16, 17].map((at) => tensors[at]);
  const read = (gru, ids) => {
    let state = gru[1][0].map(() => 0);
    return ids.map((id) => { state = gruCell(gru, words[id], state); return state; });
  };
  const forward = read(tensors.slice(1, 5), source);
  const backward = read(tensors.slice(5, 9), [...source].reverse()).reverse();
  const ends = [...forward[source.length - 1], ...backward[0]];
  const states = [affine(wS, bS, ends).map(Math.tanh)];
  const steps = [];
  for (let reads = bos; steps.length < longest && (!steps.length || reads !== eos);) {
    const t = steps.length + 1;
    states.push(gruCell(tensors.slice(12, 16), targets[reads], states[t - 1]));
    const p = softmax(affine(wO, bO, states[t]));
    const best = p.indexOf(Math.max(...p));
    const word = forced[t] ?? best;
    steps.push({ reads, p, best, word });
    reads = word;
  }
  const norms = { forward: forward.map(norm), backward: backward.map(norm),
    decoder: states.map(norm) };
  const most = Math.max(...Object.values(norms).flat());
  return { forward, backward, states, steps, norms, most };
}
