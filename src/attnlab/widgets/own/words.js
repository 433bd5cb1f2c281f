// What the heads of a sentence do, in words and tables, and how near its last vectors are.

import { rowAt } from "../core/maths/nn.js";
import { bar, el, note, setText } from "../core/view/dom.js";
import { fixed, heaviest, listed, quoted, visible } from "../core/view/text.js";

const NAMED = 4; // heads that are off; of more, how many
const BARS = 14; // pieces that are compared, those that are nearest
const SPECIAL = ["[CLS]", "[SEP]"];

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
  "Press a row of the large map, or a piece beside it, to follow it; press a small map to make it large.";

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

/** The pieces to which the pinned one is compared, nearest first where there are many. */
function compared({ tokens, found, now }) {
  const n = tokens.length;
  const all = tokens.map((_, j) => j).filter((j) => j !== now.row && !SPECIAL.includes(tokens[j]));
  if (all.length <= BARS) return all;
  const value = (j) => found.intact[now.row * n + j];
  return all.sort((a, b) => value(b) - value(a)).slice(0, BARS);
}

/** How near the pinned piece's last vector is to the others', now and with every head on. */
export function nearness(view) {
  const title = el("p");
  const list = el("ol");
  const about = note("In brackets: with every head on.");
  const node = el("div", "near", title, list, about);
  const show = ({ row: i }) => {
    node.hidden = i === null;
    if (node.hidden) return;
    const { found, names, tokens } = view;
    const n = tokens.length;
    title.replaceChildren("In the last layer ", el("b", {}, names[i]), " is near to (cosine)");
    about.hidden = !found.off.length;
    list.replaceChildren(
      ...compared(view).map((j) => {
        const [value, was] = [found.near, found.intact].map((all) => all[i * n + j]);
        const fill = bar();
        fill.show(Math.max(0, value));
        const told = found.off.length ? `${fixed(value, 2)} (${fixed(was, 2)})` : fixed(value, 2);
        return el("li", {}, el("span", "token", names[j]), fill.node, el("span", "value", told));
      }),
    );
  };
  return { node, show };
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
  const some = odd.slice(0, NAMED).map(quoted);
  const rest = odd.length > NAMED ? [`${odd.length - NAMED} more`] : [];
  setText(
    node,
    odd.length ? `The model has no pieces for ${listed([...some, ...rest])}, and reads [UNK] instead.` : "",
  );
}
