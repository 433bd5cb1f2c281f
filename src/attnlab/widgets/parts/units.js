// Numbers with three digits that count, and their unit.

import { fixed, plain } from "../core/view/text.js";

const BYTES = ["bytes", "kB", "MB", "GB", "TB", "PB"];
const SECONDS = ["ns", "µs", "ms", "s"];
const MANY = ["", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion"];

/** 17.2, 4.80 or 295. @type {(value: number) => string} */
export const digits = (value) => fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);

function scaled(value, units, least) {
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit ? digits(value) : least(value)} ${units[unit]}`.trim();
}

/** "17.2 GB": 1 GB = 10⁹ bytes. @type {(bytes: number) => string} */
export const sized = (bytes) => scaled(bytes, BYTES, plain);

/** "4.80 ms" @type {(seconds: number) => string} */
export const timed = (seconds) => scaled(seconds * 1e9, SECONDS, digits);

/** "15.0 billion" @type {(count: number) => string} */
export const many = (count) => scaled(count, MANY, plain);
