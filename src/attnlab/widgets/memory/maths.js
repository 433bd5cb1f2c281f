// A memory of 2 × 2 numbers, written under keys and asked by keys: pure functions, tested against torch.

/** @import { Rows } from "../core/types.d.ts" */

const NEAR = 1e-9; // what is no more than rounding

/** @type {(one: number[], other: number[]) => number} */
const dot = ([a, b], [c, d]) => a * c + b * d;

/** A row times S. @type {(row: number[], S: Rows) => number[]} */
const through = (row, S) => [0, 1].map((c) => row[0] * S[0][c] + row[1] * S[1][c]);

/** elu(x) + 1 of each number. @type {(key: number[]) => number[]} */
const phi = (key) => key.map((x) => (x > 0 ? x + 1 : Math.exp(x)));

/** The keys: two at right angles, and a third. @type {(given: {third: boolean, angle: number, length: number}) => Rows} */
function keysOf({ third, angle, length }) {
  const turn = (angle * Math.PI) / 180;
  const keys = [
    [1, 0],
    [0, 1],
  ];
  return third ? [...keys, [length * Math.cos(turn), length * Math.sin(turn)]] : keys;
}

/**
 * Each write: what the key read before it, what was written under the key, what is kept then, and
 * what each key reads of it, and how far that is from its value; the last one also after `step`.
 * @param {{values: Rows, third: boolean, angle: number, length: number, write: string, decay: number, beta: number}} given
 */
export function written({ values, write, decay, beta, ...key }, step = 3) {
  const plain = keysOf(key);
  const keys = write === "phi" ? plain.map(phi) : plain;
  const most = Math.max(1, ...values.flat().map(Math.abs));
  const asked = (S, z) =>
    keys.map((k, j) => {
      const total = write === "phi" ? dot(k, z) : 1;
      const read = through(k, S).map((x) => (total ? x / total : 0));
      const off = Math.hypot(read[0] - values[j][0], read[1] - values[j][1]);
      return { read, off: off <= NEAR * most ? 0 : off };
    });
  const none = [0, 0];
  let now = { S: [none, none], z: none, before: none, under: none, asked: asked([none, none], none) };
  const steps = [now].concat(
    keys.map((k, j) => {
      const S0 = now.S.map((row) => row.map((x) => decay * x));
      const before = through(k, S0);
      const under = values[j].map((v, c) => (write === "delta" ? beta * (v - before[c]) : v));
      const S = S0.map((row, r) => row.map((x, c) => x + k[r] * under[c]));
      const z = now.z.map((x, r) => decay * x + k[r]);
      now = { S, z, before, under, asked: asked(S, z) };
      return now;
    }),
  );
  return { plain, keys, steps, ...steps[Math.min(step, keys.length)] };
}
