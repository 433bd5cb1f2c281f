// An encoder block, run as often as the reader says, each stage kept. Row vectors: x W + b.

import { times } from "../core/maths/lists.js";
import { attend, dot, layerNorm, moments, product, softmax } from "../core/maths/nn.js";
import { gelu } from "../parts/gelu.js";

export { gelu };

/** @import { Rows } from "../core/types.d.ts" */

/**
 * One vector's mean, biased standard deviation and length.
 * @type {(x: number[]) => {mu: number, sd: number, length: number}}
 */
export function measures(x) {
  const { mu, variance } = moments(x);
  return { mu, sd: Math.sqrt(variance), length: Math.hypot(...x) };
}

/** The cosine of two vectors; null where one of them is zero. @type {(a: number[], b: number[]) => number|null} */
export function cosine(a, b) {
  const by = Math.hypot(...a) * Math.hypot(...b);
  return by ? dot(a, b) / by : null;
}

/** @type {(rows: Rows, others: Rows) => Rows} */
const plus = (rows, others) => rows.map((row, i) => row.map((x, c) => x + others[i][c]));
/** @type {(rows: Rows, matrix: Rows, bias: number[]) => Rows} */
const linear = (rows, matrix, bias) =>
  plus(
    product(rows, matrix),
    rows.map(() => bias),
  );

/**
 * The weights of each head (h, n, n), and the outputs put side by side (n, d).
 * @type {(rows: Rows, layer: any) => {weights: Rows[], joined: Rows}}
 */
function heads(rows, layer) {
  const [q, k, v] = ["q", "k", "v"].map((role) => linear(rows, layer[`w_${role}`], layer[`b_${role}`]));
  const size = q[0].length / layer.heads;
  const part = (all, h) => all.map((row) => row.slice(h * size, (h + 1) * size));
  const weights = times(layer.heads, (h) =>
    part(q, h).map((one) => softmax(part(k, h).map((key) => dot(one, key) / Math.sqrt(size)))),
  );
  const joined = rows.map((_, i) => weights.flatMap((all, h) => attend(all[i], part(v, h))));
  return { weights, joined };
}

const ACTIVATIONS = { relu: (x) => Math.max(0, x), gelu };

/** @type {(rows: Rows, layer: any) => Rows} */
function feedForward(rows, layer) {
  const hidden = linear(rows, layer.w_1, layer.b_1).map((row) => row.map(ACTIVATIONS[layer.activation]));
  return linear(hidden, layer.w_2, layer.b_2);
}

/**
 * One block: its stages in order as {name, formula, kind, rows}, each named by its letter, and
 * attention's weights. `kind` says what a stage is to the sum: "part" goes on the way that the
 * sum goes round, "sum" is where both meet.
 * @param {Rows} x
 * @param {any} how
 * @returns {{stages: {name: string, formula: string, kind?: string, rows: Rows}[], weights: Rows[], output: Rows}}
 */
function once(x, { layer, norm, residual }) {
  const stages = [{ name: "x", formula: "x", rows: x }];
  let weights;
  const put = (name, formula, kind, rows) => {
    stages.push({ name, formula: `${name} = ${formula}`, kind, rows });
    return stages[stages.length - 1];
  };
  const apply = (from, p, kind) =>
    put(
      `n${"₁₂"[p]}`,
      `norm(${from.name})`,
      kind,
      from.rows.map((x) => layerNorm(x, layer.gains[p], layer.shifts[p], Number(layer.eps))),
    );
  const parts = [
    ({ name, rows }) => {
      const found = heads(rows, layer);
      weights = found.weights;
      return put("a", `attention(${name})`, "part", linear(found.joined, layer.w_o, layer.b_o));
    },
    ({ name, rows }) => put("f", `FFN(${name})`, "part", feedForward(rows, layer)),
  ];
  parts.reduce((start, part, p) => {
    let now = part(norm === "pre" ? apply(start, p, "part") : start);
    if (residual) {
      now = put(`s${"₁₂"[p]}`, `${start.name} + ${now.name}`, "sum", plus(start.rows, now.rows));
    }
    return norm === "post" ? apply(now, p) : now;
  }, stages[0]);
  return { stages, weights, output: stages[stages.length - 1].rows };
}

/**
 * The blocks in order, all with the weights of `layer`.
 * @param {{vectors: Rows, blocks: number, layer: any, norm: string, residual: boolean}} given
 * @returns {ReturnType<typeof once>[]}
 */
export function blockFlow({ vectors, blocks, ...how }) {
  const all = [];
  times(blocks, (b) => all.push(once(b ? all[b - 1].output : vectors, how)));
  return all;
}

/**
 * What is left after each block, x itself first: measures, and cosines with x and the others.
 * @param {{output: Rows}[]} flow
 * @param {Rows} vectors
 * @param {number} token
 * @returns {{mu: number, sd: number, length: number, first: number|null, others: number|null}[]}
 */
export const traced = (flow, vectors, token) =>
  [vectors, ...flow.map(({ output }) => output)].map((rows) => {
    const others = rows.filter((_, i) => i !== token).map((row) => cosine(rows[token], row));
    return {
      ...measures(rows[token]),
      first: cosine(rows[token], vectors[token]),
      others: others.length && !others.includes(null) ? moments(others).mu : null,
    };
  });
