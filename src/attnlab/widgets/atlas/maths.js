// The atlas as plain numbers: what is nearest, what is next along an axis, what has room for a name.

import { within } from "../core/maths/lists.js";

/** @typedef {number[][]} Points of each head, its two scores */

/** The places from the smallest score of an axis to the largest; of equal ones the first. @type {(points: Points, axis: number) => number[]} */
export const ordered = (points, axis) => [...points.keys()].sort((a, b) => points[a][axis] - points[b][axis] || a - b);

/** The places of those with the largest scores of an axis. @type {(points: Points, count?: number, axis?: number) => number[]} */
export const largest = (points, count = 10, axis = 0) =>
  [...points.keys()].sort((a, b) => points[b][axis] - points[a][axis] || a - b).slice(0, count);

/** The next place along an axis, so many further. @type {(points: Points, axis: number, from: number, by: number) => number} */
export function along(points, axis, from, by) {
  const order = ordered(points, axis);
  return order[within(order.indexOf(from) + by, order.length - 1)];
}

/** The place of the point that is nearest to (x, y), or −1 where none is within reach. @type {(points: Points, x: number, y: number, reach: number) => number} */
export function nearest(points, x, y, reach) {
  const far = points.map((point) => Math.hypot(point[0] - x, point[1] - y));
  const least = Math.min(...far);
  return least <= reach ? far.indexOf(least) : -1;
}

/** Of places in order, those whose names have room: none lies within (wide, high) of one before. @type {(points: Points, places: number[], wide: number, high: number) => number[]} */
export function roomy(points, places, wide, high) {
  /** @type {number[]} */
  const kept = [];
  for (const place of places) {
    const [x, y] = points[place];
    const close = kept.some((one) => Math.abs(points[one][0] - x) < wide && Math.abs(points[one][1] - y) < high);
    if (!close) kept.push(place);
  }
  return kept;
}

/**
 * A sentence cut at the two tokens that count: texts, and what each is. Spaces before a token stay outside.
 * @type {(tokens: string[], from: number, to: number) => {text: string, role: string}[]}
 */
export function pieces(tokens, from, to) {
  const found = [{ text: "", role: "" }];
  tokens.forEach((token, at) => {
    const role = at === from ? "from" : at === to ? "to" : "";
    const bare = role ? token.trimStart() : token;
    found[found.length - 1].text += token.slice(0, token.length - bare.length);
    if (role) found.push({ text: bare, role }, { text: "", role: "" });
    else found[found.length - 1].text += token;
  });
  return found.filter(({ text }) => text);
}

/**
 * What is kept of a head's looks: of each, (sentence, from, to, percent).
 * @type {(flat: number[], looks: number, look: number) => number[][]}
 */
export function casesOf(flat, looks, look) {
  const each = flat.length / looks;
  const own = flat.slice(look * each, (look + 1) * each);
  return own.flatMap((_, at) => (at % 4 ? [] : [own.slice(at, at + 4)]));
}
