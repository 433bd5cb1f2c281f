// What the heads of a sentence do, in words and tables, and how near its last vectors are.

import { rowAt } from "../../core/maths/nn.js";
import { setText } from "../../core/view/dom.js";
import { fixed, heaviest, listed, quoted, shorten, visible } from "../../core/view/text.js";

const LONGEST = 24; // letters of a word that is told
const NAMED = 4; // heads that are off; of more, how many

export const headName = (layer, head) => `layer ${layer} head ${head}`;
export const short = (layer, head) => `${layer}.${head}`;

const row = (view, i) => rowAt(view.head.weights, i, view.tokens.length);
const most = (view, i, name = visible) => heaviest(view.names, row(view, i), undefined, name);

/** What the reader sees of a cell. */
export const describe = (view, { i, j }) =>
  `${view.names[i]} → ${view.names[j]} ${fixed(row(view, i)[j])} in ${headName(view.now.layer, view.now.head)}`;

/** What one row does. */
export const describeRow = (view, i) =>
  `In ${headName(view.now.layer, view.now.head)}, ${quoted(view.names[i])} attends most to ${most(view, i, quoted)}.`;

export const HINT =
  "Press a row of the large map, or a piece above it, to see where it looks and what its last vector is near to; " +
  "press a small map to make it large.";

/** Which heads are off. */
export function offText(off, all) {
  if (!off.length) return "Every head is on.";
  if (off.length === all) return "Every head is off: each piece goes through the layers alone.";
  const which = off.length > NAMED ? `${off.length} of ${all} heads` : listed(off.map(([l, h]) => short(l, h)));
  return `Off: ${which}.`;
}

/** What the switches changed: of the pinned piece, or of that which changed most and of that which changed least. */
export function changeText({ found, now, names }) {
  const { kept, off } = found;
  if (!off.length) return "";
  const one = (i) => `${quoted(names[i])} ${fixed(kept[i], 2)}`;
  if (now.row !== null) {
    return ` The last vector of ${quoted(names[now.row])} has a cosine of ${fixed(kept[now.row], 2)} with what it was.`;
  }
  const order = kept.map((_, i) => i).sort((a, b) => kept[a] - kept[b]);
  return ` The last vectors’ cosines with what they were: lowest ${one(order[0])}, highest ${one(order[order.length - 1])}.`;
}

/** The large map as the texts of a table. */
export const mapCells = (view) => [
  [`piece in ${headName(view.now.layer, view.now.head)}`, "attends most to"],
  ...view.names.map((name, i) => [name, most(view, i)]),
];

/** Where the pinned piece looks most, in every head. */
export function headCells(view) {
  const { now, found, names } = view;
  const n = names.length;
  const { layers, heads } = view.store.get("sizes");
  const best = (values) => {
    const at = values.indexOf(Math.max(...values));
    return `${names[at]} ${fixed(values[at], 2)}`;
  };
  const cell = (l, h) => (now.row === null ? "–" : best(rowAt(found.seen[l * heads + h], now.row, n)));
  return [
    [
      now.row === null ? "no piece is pinned" : `${names[now.row]}: most to`,
      ...Array.from({ length: heads }, (_, h) => `head ${h}`),
    ],
    ...Array.from({ length: layers }, (_, l) => [`layer ${l}`, ...Array.from({ length: heads }, (_, h) => cell(l, h))]),
  ];
}

/** What was not read as it is written. */
export function tellOdd(node, odd) {
  const some = odd.slice(0, NAMED).map((word) => quoted(shorten(word, LONGEST, (text) => text.length)));
  const rest = odd.length > NAMED ? [`${odd.length - NAMED} more`] : [];
  setText(
    node,
    odd.length ? `The model has no pieces for ${listed([...some, ...rest])}, and reads [UNK] instead.` : "",
  );
}
