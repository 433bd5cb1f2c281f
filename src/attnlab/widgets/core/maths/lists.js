// Small helpers for lists and numbers.

/** @type {(value: number, last: number) => number} */
export const within = (value, last) => Math.max(0, Math.min(last, value));

/**
 * @template T
 * @param {number} count
 * @param {(at: number) => T} make
 * @returns {T[]}
 */
export const times = (count, make) => Array.from({ length: count }, (_, place) => make(place));

/**
 * A copy of a list, with another entry at a place.
 * @template T
 * @param {T[]} list
 * @param {number} place
 * @param {T} entry
 * @returns {T[]}
 */
export const replaced = (list, place, entry) => list.map((old, at) => (at === place ? entry : old));
