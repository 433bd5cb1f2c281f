// Reading and judging what a reader worked out on paper.

import { fixed, typed } from "../core/view/text.js";

const GROUPS = /^([-+−]?\d{1,3})((?:[\s']\d{3})+)(?=$|[.,])/; // 12 345, 12'345
const MILLIONS = /^[-+−]?\d{1,3}(,\d{3}){2,}$/; // one comma alone marks decimals
const COMMA = /^[-+−]?\d{1,3},\d{3}$/;
const SLACK = 1e-9; // of what a fraction loses when it is divided

/** The number that was entered: 0.5, 0,5, 1/2, 12 345; NaN where it is none. @type {(text: string) => number} */
export function entered(text) {
  const bare = MILLIONS.test(text.trim()) ? text.replace(/,/g, "") : text;
  const tidy = bare.trim().replace(GROUPS, (_, head, tail) => head + tail.replace(/[\s']/g, ""));
  const [above, below, ...more] = tidy.split("/");
  const value = below === undefined ? typed(tidy) : more.length ? NaN : typed(above) / typed(below);
  return Number.isFinite(value) ? value : NaN;
}

/** How many decimals were written; a fraction is exact. @type {(text: string) => number} */
function decimalsOf(text) {
  if (/[/e]/i.test(text)) return Infinity;
  return (text.trim().split(/[.,]/)[1] ?? "").length;
}

/** Two numbers that are the same within the tolerance. @type {(one: number, other: number, tolerance: number) => boolean} */
export const near = (one, other, tolerance) =>
  Math.abs(one - other) <= tolerance + SLACK * Math.max(1, Math.abs(other));

/**
 * What an entry is, and what is said of it.
 * @type {(text: string, truth: number, tolerance: number, decimals: number) => {is: string, said: string}}
 */
export function judge(text, truth, tolerance, decimals) {
  if (!text.trim()) return { is: "empty", said: "still empty" };
  const mine = entered(text);
  if (Number.isNaN(mine)) return { is: "unread", said: "not a number that can be read here" };
  if (near(mine, truth, tolerance)) return { is: "right", said: "right" };
  if (COMMA.test(text.trim()) && near(entered(text.replace(",", "")), truth, tolerance))
    return decimals === 0 // a whole number is wanted, so the comma marks thousands
      ? { is: "right", said: "right" }
      : { is: "close", said: "a comma is read as a decimal point: write thousands without it" };
  const kept = decimalsOf(text);
  const cut = 0.5 * 10 ** -kept;
  if (mine !== 0 && kept < decimals && near(mine, truth, cut))
    return { is: "close", said: `right as far as it goes: give ${decimals} decimals, or a fraction` };
  if (near(mine, truth, Math.min(6 * tolerance, Math.abs(truth) / 20)))
    return { is: "close", said: "close, but rounded on the way: keep more decimals until the end" };
  if (truth !== 0 && near(mine, -truth, tolerance)) return { is: "wrong", said: "not right: look at the sign" };
  return { is: "wrong", said: "not right" };
}

/**
 * The first named mistake that the entries show: its numbers and what is said of it.
 * @type {(mistakes: [(number|null)[], string][], texts: string[], tolerance: number) => [(number|null)[], string]|undefined}
 */
export function mistaken(mistakes, texts, tolerance) {
  /** @type {(one: [(number|null)[], string]) => boolean} */
  const fits = ([numbers]) =>
    numbers.every((number, place) => number === null || near(entered(texts[place]), number, tolerance));
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
