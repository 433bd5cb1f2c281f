// Numbers as people write them: one reader for every box, and one way to write them back.
//
// The grammar. A sign or none (+ - − – ‐ ‑), and then one of
//   decimals      2048   0.5   .5   0,5
//   thousands     37,000   37 000 (any space)   37'000   1,234,567.5   1.234.567,5
//   a fraction    1/2   ½   1½   1 1/2   2,5/5
//   a power       1e-3   10^-3   10⁻³   1·10⁻³   2 × 10^5   2^20
//   a share       50 %, in a box whose numbers lie between 0 and 1
//
// One mark before exactly three digits may mean either, unless a 0 or more than three digits stand
// before it (0,512 and 1024,512 are decimals):
//   1,024   in a box for whole numbers, and in one that says `thousands`, 1024, as the book prints
//           it; in any other, 1024 or 1.024
//   1.024   in a box for whole numbers, and in one that says `thousands`, 1024 or 1.024; in any
//           other, 1.024, as the book prints it
// Meanings that the box cannot take fall away, but not where a comma would then be a point. Where
// one is left it is taken; where two are, the reader is asked. A box that takes fractions is written to so that its own numbers are never asked
// about: 1024 there, 1,024 elsewhere.

/**
 * What a box takes. @typedef {{whole?: boolean, thousands?: boolean, lowest?: number, highest?: number}} Box
 * A number that was read, and how many decimals were written; infinitely many of a fraction or a power.
 * @typedef {{value: number, decimals: number}} Meaning
 */

const LONGEST = 40; // letters of a number that is read
const EXACT = 8; // digits of a fraction that is written back
const DECIMAL = /^(?:\d+[.,]?(\d*)|[.,](\d+))$/;
const GROUPS = /^[1-9]\d{0,2}([,.'’ \u00a0\u2007\u2009\u200a\u202f])\d{3}((?:\1\d{3})*)(?:([.,])(\d+))?$/;
const POWER = /^(?:(.+?)\s*[·×*]\s*)?(\d+)(?:\^([+-]?\d+)|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))$/;

/** Decimals without a sign, in every way that the box may have them read. @type {(text: string, box: Box) => Meaning[]} */
function plainly(text, { whole, thousands = whole }) {
  const found = [];
  const [groups, mark, more, point, tail = ""] = GROUPS.exec(text) ?? [];
  if (groups && point !== mark) {
    const digits = text.slice(0, text.length - tail.length - (point ? 1 : 0)).replace(/\D/g, "");
    found.push({ value: Number(`${digits}.${tail}`), decimals: tail.length });
  }
  const either = found.length > 0 && !more && !point; // one mark, three digits
  const decimal = DECIMAL.exec(text);
  if (!decimal || (either && mark === "," && thousands)) return found;
  const read = { value: Number(text.replace(",", ".")), decimals: (decimal[1] ?? decimal[2]).length };
  return either && mark === "." && !thousands ? [read] : [...found, read];
}

/** Every pair of meanings, as one exact number. @type {(one: Meaning[], other: Meaning[], join: (a: number, b: number) => number) => Meaning[]} */
const both = (one, other, join) =>
  one.flatMap((a) => other.map((b) => ({ value: join(a.value, b.value), decimals: Infinity })));

/** A number without a sign: its meanings, none where it is no number. @type {(text: string, box: Box) => Meaning[]} */
function unsigned(text, box) {
  const [above, below, ...more] = text.split("/").map((part) => part.trim());
  if (more.length) return [];
  if (below !== undefined) {
    const [, whole, part] = /^(\d+)\s+(\d{1,2})$/.exec(above) ?? [];
    const ratio = both(unsigned(part ?? above, box), signed(below, box), (a, b) => (b === 0 ? NaN : a / b));
    if (!whole) return ratio;
    const proper = ratio.filter(({ value }) => value >= 0 && value < 1);
    return both(plainly(whole, box), proper, (a, b) => a + b);
  }
  const [power, factor = "1", base, flat, raised] = POWER.exec(text) ?? [];
  const [, mantissa, exponent] = /^(.+?)e([+-]?\d+)$/i.exec(text) ?? [];
  if (!power && !mantissa) return plainly(text, box);
  const up = Number(exponent ?? flat ?? raised.normalize("NFKD").replace("−", "-"));
  const times = (a, b) => {
    const exact = Number(`${a}e${up}`); // by its digits, so that 5e-1 is 0.5 to the last bit
    return Number.isNaN(exact) || (power && base !== "10") ? a * b : exact;
  };
  // nobody marks thousands before a power of ten by points
  return both(plainly(mantissa ?? factor, {}), [{ value: Number(base ?? 10) ** up, decimals: 0 }], times);
}

/** @type {(text: string, box: Box) => Meaning[]} */
function signed(text, box) {
  const [, sign, rest] = /^([+-]?)\s*(.*)$/.exec(text) ?? [];
  return unsigned(rest, box).map(({ value, decimals }) => ({ value: sign === "-" ? 0 - value : value, decimals }));
}

/** In quotation marks, and at most so much of it as a sentence has room for. @type {(text: string) => string} */
const cited = (text) => `“${text.length > 24 ? `${text.slice(0, 20)}…` : text}”`;

/**
 * What a text means in a box: one number; or why it is none, or none for this box; or the two
 * numbers of which the reader has to say which. `why` is a clause of a sentence.
 * @type {(text: string, box?: Box) => {value?: number, decimals?: number, why?: string, ask?: number[]}}
 */
export function understood(text, box = {}) {
  const { whole = false, lowest = -Infinity, highest = Infinity } = box;
  const bare = text.trim();
  if (!bare) return { why: "nothing is written" };
  if (bare.length > LONGEST) return { why: `${cited(bare)} is too long: write fewer digits` };
  if (/(?![0-9])\p{Nd}/u.test(bare)) return { why: `${cited(bare)} is not written in the digits 0 to 9` };
  const percent = /\s*%$/.test(bare);
  if (percent && !(lowest >= 0 && highest <= 1)) return { why: `${cited(bare)} has a percent sign: write it without` };
  const tidy = bare
    .replace(/\s*%$/, "")
    .replace(/[−–‐‑]/g, "-")
    .replace(/[¼-¾⅐-⅞]/g, (sign) => ` ${sign.normalize("NFKD").replace("⁄", "/")}`)
    .trim();
  const read = signed(tidy, box).map((one) => (percent ? { value: one.value / 100, decimals: Infinity } : one));
  if (!read.length) return { why: `${cited(bare)} is ${severalIn(tidy) ? "more than one" : "not a"} number` };
  const good = read.filter(({ value }) => (!whole || Number.isInteger(value)) && value >= lowest && value <= highest);
  // a comma that the book would print for thousands is not read as a point because 37,000 is too large
  const comma = !whole && read.length > 1 && good[0] === read.at(-1) && tidy.includes(",");
  if (good.length > 1 || comma) return { ask: (comma ? read : good).map(({ value }) => value) };
  if (good.length && Number.isFinite(good[0].value)) return good[0];
  const [{ value }] = read;
  if (Number.isNaN(value)) return { why: `${cited(bare)} has no value` };
  if (Math.abs(value) === Infinity || value > highest) return { why: `${cited(bare)} is too large` };
  return { why: `${cited(bare)} is ${value < lowest ? "too small" : "not whole"}` };
}

/** Digits apart from each other: a list, or a table that was pasted. */
const severalIn = (text) => /\d[^\d.]+\d/.test(text) && !/[^\d\s.,;:|()[\]↵+-]/.test(text);

/** 12345.5 as 12,345.5, as the book prints it; the text of a number in digits. @type {(text: string|number) => string} */
export const grouped = (text) => String(text).replace(/^\D*\d{4,}/, (front) => front.replace(/\B(?=(\d{3})+$)/g, ","));

/** A number as the book prints it, so that this box reads it as the same. @type {(value: number, box?: Box) => string} */
export function written(value, { whole = false, thousands = whole } = {}) {
  const bare = String(Number.isInteger(value) ? value : Number(value.toPrecision(EXACT)));
  const text = bare.replace("e+", "e").replace(/-/g, "−");
  const parted = grouped(text);
  return !thousands && /^−?\d{1,3},\d{3}$/.test(parted) ? text : parted;
}

/** "a whole number from 128 to 1,048,576" @type {(box: Box) => string} */
export const wantedOf = (box) =>
  `a ${box.whole ? "whole " : ""}number from ${written(box.lowest, box)} to ${written(box.highest, box)}`;

/** A clause: which two numbers it may be. @type {(text: string, ask: number[]) => string} */
export const asked = (text, ask) =>
  `${cited(text.trim())} may be ${ask.map((value) => written(value)).join(" or ")}: write the one that you mean`;

/**
 * “½” is read as 0.5: what was understood, where that has another form than what was typed.
 * @type {(text: string, value: number, box?: Box) => string}
 */
export function retold(text, value, box) {
  const bare = text.trim().replace(/^[-–‐‑]/, "−");
  const mine = written(value, box);
  const plain = /^[+−]?(\d+\.?\d*|\.\d+)$/.test(bare) && Number(bare.replace("−", "-")) === value;
  const same = bare === mine || plain; // but 8.192 that was read as 8,192 is not
  return same ? "" : `${cited(text.trim())} is read as ${mine}.`;
}
