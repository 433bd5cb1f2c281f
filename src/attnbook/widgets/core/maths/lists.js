// Small helpers for lists and numbers.

export const within = (value, last) => Math.max(0, Math.min(last, value));

export const times = (count, make) => Array.from({ length: count }, (_, place) => make(place));

/** A copy of a list, with another entry at a place. */
export const replaced = (list, place, entry) => list.map((old, at) => (at === place ? entry : old));
