// The heads of the browser in words: names, the status line, the tables.

import { times } from "../../core/maths/lists.js";
import { rowAt } from "../../core/maths/nn.js";
import { fixed, heaviest, quoted, visible } from "../../core/view/text.js";
import { ranked, special } from "./maths.js";

/** What may be measured, in words; `special` is [CLS] and [SEP], or what stands for them. */
export const measures = ({ special }) => ({
  key: "weight on the chosen key",
  previous: "weight on the previous token",
  next: "weight on the next token",
  same: "weight on the query itself",
  special: `weight on ${special}`,
  spread: "over how many keys",
});

/** What heads look at that have nothing better to do. @type {(causal: boolean) => string} */
export const specialName = (causal) => (causal ? "the first token" : "[CLS] and [SEP]");

const NOTHING = "nothing that is not hidden";

export const HINT =
  "Press a cell of the large map to ask which heads look from its query to its " +
  "key; press a small map to make it large. Arrow keys and Enter do the same.";

export const about = ({ special, causal }) =>
  "The strip of a small map, and its tint, show the measure: full at a weight of " +
  "1, or at all keys. “Over 1.4 keys” is e to the power of a row’s entropy. " +
  (causal ? "A query sees no later token. " : "") +
  `With ${special} hidden as ${causal ? "a key" : "keys"}, what is left of a row is divided by its sum, so that it ` +
  "sums to 1 again.";

/** The name of head h of all. */
export const headName = (view, h) => `layer ${Math.floor(h / view.shape[1])} head ${h % view.shape[1]}`;

/** A head's measure as it is read. */
export const valueText = ({ now }, h) =>
  now.values[h] === null ? "–" : fixed(now.values[h], now.measure === "spread" ? 1 : 3);

/** What is measured: "it → animal", "all queries, on average: weight on the next token". */
export function question({ now, names, measures }) {
  const { row, key, measure } = now;
  const from = row === null ? "all queries, on average" : names[row];
  if (measure !== "key") return `${from}: ${measures[measure]}`;
  return `${from} → ${key === null ? "?" : names[key]}`;
}

/** Above the five heads. */
export function asked(view) {
  const { now } = view;
  if (now.best.length) return `${question(view)}. Most in:`;
  return now.measure === "key" && now.key === null
    ? "From which word to which? Choose a query and a key, or press a cell of the large map."
    : `${question(view)}: there is no such key${now.hide ? ", or it is hidden" : ""}.`;
}

/** How much of a row went to the keys that are hidden. */
function hidden({ now, names, tokens, causal, special: name }) {
  const share = special(tokens, causal).reduce((sum, j) => sum + now.given[now.row * tokens.length + j], 0);
  const were = causal ? "it was" : "they were";
  return now.hide
    ? ` Before ${were} hidden, ${name} had ${fixed(share)} of the weight of ${quoted(names[now.row])}.`
    : "";
}

/** The largest weights of a row. */
function most({ now, names }, i, name = visible) {
  const row = rowAt(now.weights, i, names.length);
  return heaviest(names, row, (j) => row[j] > 0, name) || NOTHING;
}

/** The status line: the cell or the small map pointed at, the pinned row, or a hint. */
export function said(view) {
  const { now, names, cursor, tokens } = view;
  const n = tokens.length;
  const head = headName(view, now.place);
  if (view.pointed !== null) {
    return `${headName(view, view.pointed)}: ${question(view)}, ${valueText(view, view.pointed)}`;
  }
  if (cursor) {
    const at = cursor.i * n + cursor.j;
    return `${names[cursor.i]} → ${names[cursor.j]}: ${
      view.may[at]
        ? `${fixed(now.weights[at])} in ${head}`
        : view.causal && cursor.j > cursor.i
          ? "comes later"
          : "hidden"
    }`;
  }
  if (now.row === null) return HINT;
  return `${quoted(names[now.row])} is pinned; in ${head} it attends most to ${most(view, now.row, quoted)}.${hidden(view)}`;
}

/** The measure of every head, as the texts of a table: of each layer all heads, most first. */
export function measureCells(view) {
  const [layers, heads] = view.shape;
  const line = (l) =>
    ranked(view.now.values.slice(l * heads, (l + 1) * heads), heads)
      .map((h) => `head ${h}: ${valueText(view, l * heads + h)}`)
      .join(", ");
  return [["layer", question(view)], ...times(layers, (l) => [l, line(l) || "–"])];
}

/** The large map as the texts of a table: of each query the largest weights. */
export const largeCells = (view) => [
  [`query in layer ${view.now.layer} head ${view.now.head}`, "attends most to"],
  ...view.names.map((name, i) => [name, most(view, i)]),
];
