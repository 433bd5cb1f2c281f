// Rotary speeds with scaling as plain numbers, and which angles a trained length has shown.

import { times, within } from "../core/maths/lists.js";

/** @typedef {{d: number, base: number, trained: number}} Head */

export const ROUND = 2 * Math.PI;
const EDGE = 1 + 1e-9; // an angle that is met but for rounding is met

/**
 * θ_i: by how many radians a token turns each pair, slowed by a scaling by s.
 * @type {(head: Head, kind?: string, s?: number) => number[]}
 */
export function speeds({ d, base, trained }, kind = "none", s = 1) {
  const from = kind === "ntk" ? base * s ** (d / (d - 2)) : base;
  const plain = times(d / 2, (i) => from ** ((-2 * i) / d));
  if (kind === "none" || kind === "ntk") return plain;
  const slowed = how[kind]({ d, base, trained });
  return plain.map((speed, i) => speed * (1 - slowed(speed, i) + slowed(speed, i) / s));
}

/** For each kind: 0 where a pair stays as it is, 1 where it is divided by s. */
const how = {
  interpolation: () => () => 1,
  llama3:
    ({ trained }) =>
    (speed) =>
      within((4 - (trained * speed) / ROUND) / (4 - 1), 1),
  yarn({ d, base, trained }) {
    // the pair that would make so many turns in the trained length
    const pairOf = (turns) => (d / (2 * Math.log(base))) * Math.log(trained / (ROUND * turns));
    const first = Math.max(Math.floor(pairOf(32)), 0);
    const last = Math.min(Math.ceil(pairOf(1)), d - 1);
    return (_, i) => within((i - first) / Math.max(last - first, 0.001), 1);
  },
};

/** By how much YaRN makes queries and keys longer. @type {(kind: string, s: number) => number} */
export const stretch = (kind, s) => (kind === "yarn" ? 0.1 * Math.log(s) + 1 : 1);

/** The largest angle of each pair that training showed, at most 2π. @type {(head: Head) => number[]} */
export const met = (head) => speeds(head).map((speed) => Math.min(head.trained * speed, ROUND));

/**
 * Each pair at a distance: where its hand stands; whether no hand stood there in training; and
 * whether that holds at any distance up to this one.
 * @type {(speeds: number[], known: number[], distance: number) => {angle: number, outside: boolean, beyond: boolean}[]}
 */
export const hands = (now, known, distance) =>
  now.map((speed, i) => {
    const [turned, edge] = [distance * speed, known[i] * EDGE];
    const angle = turned % ROUND;
    const open = known[i] < ROUND;
    return { angle, outside: open && angle > edge, beyond: open && turned > edge };
  });
