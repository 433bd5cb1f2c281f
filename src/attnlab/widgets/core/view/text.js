// Numbers and tokens as the reader sees them.

import { grouped } from "../maths/number.js";

/** @import { Vec } from "../types.d.ts" */

/** Exactly so many decimals, commas at thousands, a true minus sign, and no "−0". @type {(value: number, decimals?: number) => string} */
export function fixed(value, decimals = 3) {
  const text = value.toFixed(decimals);
  return grouped((Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−"));
}

/** At most three decimals, no trailing zeros. @type {(value: number, decimals?: number) => string} */
export function plain(value, decimals = 3) {
  const text = fixed(value, decimals);
  return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
}

/** The same, in parentheses where a minus sign would follow another sign. @type {(value: number) => string} */
export const factor = (value) => (value < 0 ? `(${plain(value)})` : plain(value));

/** With four digits that count. @type {(value: number) => string} */
export const short = (value) => grouped(String(Number(value.toPrecision(4))).replace("-", "−"));

/** @type {(values: Vec, show?: (value: number) => string) => string} */
export const vector = (values, show = plain) => `(${values.map((v) => show(v)).join(", ")})`;

/** "a", "a and b", "a, b and c". @type {(names: string[]) => string} */
export const listed = (names) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;

const HEAVY = 3; // of a row only so many of the largest weights are named

/**
 * "nuts 0.905, had 0.061": the largest weights of those keys of a row that count. In a sentence
 * the tokens are quoted, for they may be words of a sentence too.
 * @type {(tokens: string[], row: ArrayLike<number>, counts?: (j: number) => any, name?: (token: string) => string) => string}
 */
export const heaviest = (tokens, row, counts = () => true, name = visible) =>
  tokens
    .map((token, j) => ({ weight: row[j], text: `${name(token)} ${fixed(row[j])}` }))
    .filter((_, j) => counts(j))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, HEAVY)
    .map(({ text }) => text)
    .join(", ");

/** A token with no visible letter would leave a blank heading. @type {(token: string) => string} */
export const visible = (token) => (token.trim() === "" ? "␣" : token);

/** A token in a sentence. @type {(token: string) => string} */
export const quoted = (token) => `“${visible(token)}”`;

/**
 * The longest start of text that measures at most `room`, by whole letters, with an ellipsis.
 * @type {(text: string, room: number, measure: (text: string) => number) => string}
 */
export function shorten(text, room, measure) {
  if (measure(text) <= room) return text;
  const letters = Array.from(text);
  let low = 0;
  let high = letters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(`${letters.slice(0, middle).join("")}…`) <= room) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("")}…`;
}
