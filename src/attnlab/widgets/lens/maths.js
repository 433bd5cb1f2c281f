// What is recorded of a prompt, taken apart. Of each step (the embeddings, then each layer) and each
// token there are the most probable words, and the probability of that which is said at last; of each
// layer what its two parts add.

import { times } from "../core/maths/lists.js";

/**
 * @typedef {{tokens: string[], names: string[], best: number[][], chance: number[][], last: number[][], adds: number[][][]}} Prompt
 */

/** The most probable words after a token at a step. @type {(one: Prompt, step: number, token: number) => {name: string, chance: number}[]} */
export function at({ tokens, names, best, chance }, step, token) {
  const each = best[step].length / tokens.length;
  return times(each, (k) => ({
    name: names[best[step][token * each + k]],
    chance: chance[step][token * each + k] / 100,
  }));
}

/** The word that is said at last. @type {(one: Prompt, token: number) => string} */
export const last = (one, token) => at(one, one.chance.length - 1, token)[0].name;

/** How probable that word is at each step. @type {(one: Prompt, token: number) => number[]} */
export const rising = (one, token) => one.last.map((row) => row[token] / 100);

/** What each layer's attention and its feed-forward network add. @type {(one: Prompt, token: number) => number[][]} */
export const added = ({ adds }, token) => adds.map(([attention, forward]) => [attention[token], forward[token]]);

/** All that was added so far, at each step. @type {(adds: number[][]) => number[]} */
export function summed(adds) {
  let sum = 0;
  return [0, ...adds.map(([attention, forward]) => (sum += attention + forward))];
}

/**
 * Where attention first adds to the word: the step after the first layer whose attention adds at least
 * half of the most that any layer's adds.
 * @type {(one: Prompt, token: number) => number}
 */
export function opening(one, token) {
  const adds = added(one, token).map(([attention]) => attention);
  const most = Math.max(...adds);
  return most > 0 ? adds.findIndex((value) => 2 * value >= most) + 1 : adds.length;
}
