// Reading and judging what a reader worked out on paper.

import { asked, retold, understood } from "../core/maths/number.js";
import { fixed } from "../core/view/text.js";

const SLACK = 1e-9; // of what a fraction loses when it is divided

/** How an entry is read where so many decimals are wanted. @type {(decimals: number) => import("../core/maths/number.js").Box} */
export const reads = (decimals) => ({ thousands: decimals === 0 });

/** The number that was entered; NaN where it is none, or could be two. @type {(text: string, decimals?: number) => number} */
export const entered = (text, decimals = 0) => understood(text, reads(decimals)).value ?? NaN;

/** Two numbers that are the same within the tolerance. @type {(one: number, other: number, tolerance: number) => boolean} */
export const near = (one, other, tolerance) =>
  Math.abs(one - other) <= tolerance + SLACK * Math.max(1, Math.abs(other));

/**
 * What an entry is, what is said of it, and as what it is read where that has another form.
 * @type {(text: string, truth: number, tolerance: number, decimals: number) => {is: string, said: string, read?: string}}
 */
export function judge(text, truth, tolerance, decimals) {
  if (!text.trim()) return { is: "empty", said: "still empty" };
  const { value: mine, decimals: kept, why, ask } = understood(text, reads(decimals));
  if (ask) return { is: "unread", said: asked(text, ask) };
  if (why) return { is: "unread", said: why };
  return { ...compared(mine, truth, tolerance, decimals, kept), read: retold(text, mine, reads(decimals)) };
}

function compared(mine, truth, tolerance, decimals, kept) {
  if (near(mine, truth, tolerance)) return { is: "right", said: "right" };
  const cut = 0.5 * 10 ** -kept;
  // without a decimal of its own, or as 0, it shows nothing of the rest
  if (mine && kept && kept < decimals && near(mine, truth, cut))
    return { is: "close", said: `right so far: give ${decimals} decimals, or a fraction` };
  if (near(mine, truth, Math.min(6 * tolerance, Math.abs(truth) / 20)))
    return { is: "close", said: "close, but rounded on the way: keep more decimals" };
  if (truth !== 0 && near(mine, -truth, tolerance)) return { is: "wrong", said: "not right: look at the sign" };
  return { is: "wrong", said: "not right" };
}

/**
 * The first named mistake that the entries show: its numbers and what is said of it.
 * @type {(mistakes: [(number|null)[], string][], texts: string[], tolerance: number, decimals?: number) => [(number|null)[], string]|undefined}
 */
export function mistaken(mistakes, texts, tolerance, decimals) {
  /** @type {(one: [(number|null)[], string]) => boolean} */
  const fits = ([numbers]) =>
    numbers.every((number, place) => number === null || near(entered(texts[place], decimals), number, tolerance));
  return mistakes.find(fits);
}

/** How near counts as right, in words. @type {(tolerance: number, decimals: number) => string} */
export function bounds(tolerance, decimals) {
  const usual = near(tolerance, 0.5 * 10 ** -decimals, 0);
  const exact = tolerance === 0 ? "exactly" : `within ${fixed(tolerance, 8).replace(/0+$/, "")}`;
  const wanted = usual ? (decimals ? `to ${decimals} decimals` : "to the nearest whole number") : exact;
  if (tolerance === 0 && decimals === 0) return "A whole number, such as 1024 or 1,024.";
  return `Right ${wanted}. A point or a comma marks the decimals, as in 0.5 or 0,5; a fraction such as 1/2 will do.`;
}
