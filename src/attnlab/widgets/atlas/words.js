// The atlas in words and in tables.

import { grouped } from "../core/maths/number.js";
import { fixed, listed, quoted, visible } from "../core/view/text.js";
import { largest } from "./maths.js";

export const LOOKS = ["previous", "first", "same", "next", "elsewhere"];
export const NAMES = ["previous token", "first token", "same token earlier", "what came next"];
export const ON = ["sentences", "random"];
export const TEXTS = ["sentences", "random tokens said twice"];

/** The name of an axis; in a sentence with its article. @type {(trait: string) => string} */
export const named = (trait) => NAMES[LOOKS.indexOf(trait)];
/** @type {(trait: string) => string} */
export const told = (trait) =>
  trait === "elsewhere" ? "anything else" : trait === "next" ? named(trait) : `the ${named(trait)}`;

/** "layer 18 head 6" @type {(place: number, heads: number) => string} */
export const headOf = (place, heads) => `layer ${Math.floor(place / heads)} head ${place % heads}`;

/** "18.6", as the book writes a head. @type {(place: number, heads: number) => string} */
export const short = (place, heads) => `${Math.floor(place / heads)}.${place % heads}`;

/** A head's two scores. */
export function said({ x, y, points, heads }, place) {
  const two = [x, y].map((axis, at) => `${named(axis)} ${fixed(points[place][at], 2)}`);
  return `${headOf(place, heads)}: ${[...new Set(two)].join(", ")}`;
}

/** How many heads give a score more than half, and what the means are over. */
export function counted({ get }, { x, y, on, points }) {
  const axes = [...new Set([x, y])];
  const half = axes.map((axis) => {
    const at = axis === x ? 0 : 1;
    return `${points.filter((point) => point[at] > 0.5).length} ${at ? "" : "give more than half "}to ${told(axis)}`;
  });
  const over = axes.map((axis) => `${grouped(get("counted")[on][LOOKS.indexOf(axis)])} (${named(axis)})`);
  const texts = on === "random" ? TEXTS[1] : `${grouped(get("sizes").read)} sentences`;
  return `Of ${points.length} heads, ${listed(half)}. ` + `Means over ${listed(over)} tokens of ${texts}.`;
}

/** The head's four scores on both texts. */
export const scoreCells = ({ store, place }) => [
  ["mean weight on", "sentences", "alike", "random", "alike"],
  ...NAMES.map((name, at) => [
    name,
    ...ON.flatMap((on) => [store.get("scores")[on][place][at], store.get("even")[on][at]]).map((one) => fixed(one, 2)),
  ]),
];

/** The ten heads with the largest first score. */
export const largestCells = ({ x, y, points, heads }) => [
  ["head", named(x), named(y)],
  ...largest(points).map((place) => [headOf(place, heads), ...points[place].map((one) => fixed(one))]),
];

/** Every head's two scores, a row for each layer. */
export const allCells = ({ x, y, points, heads }) => [
  ["layer", ...[x, y].map((axis) => `${named(axis)}, heads 0 to ${heads - 1}`)],
  ...Array.from({ length: points.length / heads }, (_, layer) => {
    const own = points.slice(layer * heads, (layer + 1) * heads);
    return [String(layer), ...[0, 1].map((at) => own.map((two) => fixed(two[at], 2)).join(" "))];
  }),
];

/** “the” → “cat” @type {(tokens: string[], from: number, to: number) => string} */
export const way = (tokens, from, to) => [from, to].map((at) => quoted(visible(tokens[at].trim()))).join(" → ");
