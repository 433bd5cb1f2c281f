// What is visible, kept and measured, in words.

import { grouped } from "../core/maths/number.js";
import { fixed, quoted, visible } from "../core/view/text.js";

const percent = (share) => `${fixed(100 * share, share < 0.095 ? 1 : 0)}\u00a0%`;
const several = (count, what) => (count === 1 ? `the ${what} token` : `the ${what} ${count} tokens`);

/** "the first token and the last 4 tokens" */
function span({ n, window, first }) {
  if (window + first >= n) return "all of the past";
  const last = window === 1 ? "the token itself" : several(window, "last");
  return first ? `${several(first, "first")} and ${last}` : last;
}

/** What each token sees, and how much of the weight that is. */
export function said(now) {
  const { n, top, window, first, mean, heads, head } = now;
  const best = top < Math.min(n, window + first) ? `; of these, the ${top} with the largest scores` : "";
  return `Each token sees ${span(now)}${best}. Of the weight of ${heads[head].name.split(" (")[0]}, ${fixed(mean)} is kept, in the mean over the rows.`;
}

/** The measurement that is lit. */
export function measuredText({ measured, place, length, n, window, first, top }) {
  const whole = `on ${grouped(length)} tokens`;
  const one = measured[place];
  if (!one) return `Nothing of this kind was measured ${whole}.`;
  const lost = `perplexity ${fixed(one.perplexity, 1)}`;
  if (one.keys === length) return `Measured ${whole} with all visible: ${lost}.`;
  const mine = top < Math.min(n, window + first) ? top : window;
  const what = one.top ? "k" : "the window";
  const shares = `${what} is ${percent((one.top || one.last) / length)} of the text; yours is ${percent(mine / n)} of the sentence`;
  return `Nearest measured, ${whole}: ${one.name} (${shares}), ${lost}.`;
}

/** One cell. */
export function describe({ tokens, now: { n, full, weights, may } }, { i, j }) {
  const names = `${visible(tokens[i])} → ${visible(tokens[j])}`;
  if (j > i) return `${names}: later, so never seen`;
  const at = i * n + j;
  const before = `${fixed(full[at])} of full attention`;
  return may[at] ? `${names}: ${before}, now ${fixed(weights[at])}` : `${names}: ${before}, now hidden`;
}

/** Above the sentence: what the pressed row keeps. */
export const rowText = ({ tokens, now: { row, shares } }) =>
  `${quoted(tokens[row])}, token ${row + 1}: ${fixed(shares[row])} of its weight is kept. Each word: grey before, coloured now.`;

/** The row as a table: weights before and now. */
export function rowCells({ tokens, now: { n, row, full, weights, may } }) {
  if (row === null) return [["token", "before", "now"]];
  const cells = tokens.slice(0, row + 1).map((token, j) => {
    const at = row * n + j;
    return [visible(token), fixed(full[at]), may[at] ? fixed(weights[at]) : "hidden"];
  });
  return [["token", "before", "now"], ...cells];
}

/** All rows: how many keys each sees, and what it keeps. */
export const keptCells = ({ tokens, now: { n, may, shares } }) => [
  ["token", "keys seen", "weight kept"],
  ...tokens.map((token, i) => {
    const seen = may.subarray(i * n, (i + 1) * n).reduce((sum, one) => sum + one, 0);
    return [visible(token), String(seen), fixed(shares[i])];
  }),
];

/** What was measured; the lit one is marked. */
export const measuredCells = ({ now: { measured, place } }) => [
  ["visible", "perplexity", "weight kept by the model", "yours"],
  ...measured.map((one, at) => [
    one.name,
    fixed(one.perplexity, 1),
    fixed(one.mass, 2),
    at === place ? "nearest" : "–",
  ]),
];
