// Speculative decoding as plain numbers: each guess is kept with one probability, if those before it were.

import { times } from "../core/maths/lists.js";

/** The probability that a call writes 1, 2, …, n + 1 tokens or more. @type {(alpha: number, n: number) => number[]} */
export const reached = (alpha, n) => times(n + 1, (i) => alpha ** i);

/** 1 + α + … + α^n, the tokens of a call on average. @type {(alpha: number, n: number) => number} */
export const tokens = (alpha, n) => reached(alpha, n).reduce((sum, p) => sum + p, 0);

/** How many times as fast it is, where a guess costs a share of a call. @type {(alpha: number, n: number, cost: number) => number} */
export const gain = (alpha, n, cost) => tokens(alpha, n) / (1 + cost * n);
