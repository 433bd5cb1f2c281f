// The painter in words: the status lines, the mask as code, the table.

import { times } from "../core/maths/lists.js";
import { rowAt } from "../core/maths/nn.js";
import { fixed, heaviest, listed, plain, quoted, visible } from "../core/view/text.js";
import { namedPresets, sameMask } from "./controls.js";
import { emptyRows, namedMask } from "./maths.js";

const NAMED = 3; // of more rows only so many are named
const WRITTEN = 36; // cells of a mask that is written out as code

/** One cell: "bowl → nuts: may attend, weight 0.707 (score 5, scaled 2.887), gradient 0.207". */
export function describe(view, { i, j }) {
  const { store, may, weights, flow, nK } = view;
  const at = i * nK + j;
  const names = `${visible(view.tokens[i])} → ${visible(view.keyTokens[j])}`;
  const weight = fixed(weights[at]);
  if (!may[at]) {
    return weights[at] === 0
      ? `${names}: masked, weight 0`
      : `${names}: masked, and yet its weight is ${weight}; no gradient`;
  }
  const score = store.get("scores")[at];
  const divided = view.by === 1 ? "" : `, divided ${plain(score / view.by)}`;
  return `${names}: may attend, weight ${weight} (score ${plain(score)}${divided}), ` + `gradient ${fixed(flow[at])}`;
}

/** The pinned row: what it attends to, and what flows back to its scores in all. */
export function describeRow(view, i) {
  const { may, weights, flow, nK } = view;
  const row = rowAt(weights, i, nK);
  const most = heaviest(view.keyTokens, row, (j) => may[i * nK + j] || row[j] > 0, quoted);
  const trace = rowAt(flow, i, nK).reduce((sum, value) => sum + value, 0);
  return (
    `${quoted(view.tokens[i])} is pinned; it attends most to ${most || "nothing"}. ` +
    `Its gradients sum to ${fixed(trace)}.`
  );
}

const list = (names) =>
  listed(names.length > NAMED + 1 ? [...names.slice(0, NAMED), `${names.length - NAMED} more`] : names);

/** What is wrong with the mask, or with what masked scores become; empty where all is well. */
export function alarm(view) {
  const { store, may, weights, nQ, nK } = view;
  const fill = store.get("fill");
  const empty = emptyRows(nQ, nK, may);
  const said = empty.length ? [emptyWords(view, empty, fill)] : [];
  const leaks = view.tokens
    .map((token, i) => {
      let share = 0;
      for (let at = i * nK; at < (i + 1) * nK; at++) share += may[at] ? 0 : weights[at];
      return empty.includes(i) || !(share > 0) ? null : `${quoted(token)} gives it ${fixed(share)}`;
    })
    .filter(Boolean);
  if (leaks.length) said.push(`What is masked still gets a share: ${list(leaks)}.`);
  return said.join(" ");
}

function emptyWords({ tokens, nK }, empty, fill) {
  const one = empty.length === 1;
  const names = list(empty.map((i) => quoted(tokens[i])));
  const each = one ? "its weights are" : "their weights are";
  const result = {
    none: `${each} all 0, and no gradient flows.`,
    nan: `${each} NaN, and so is everything that is computed from them.`,
    "-1e10":
      `every score is −10¹⁰, so ${each} ${fixed(1 / nK)} each, the plain average of what ` +
      "is masked, and no gradient flows.",
    zero: `every score is 0, so ${each} ${fixed(1 / nK)} each, and no gradient flows.`,
  }[fill];
  return `${names} may attend to nothing: ${result}`;
}

export function explain({ steep }) {
  const rows = "Each row is a query, the token that attends; each column a key.";
  if (!steep) return `${rows} A cross marks what is masked.`;
  return (
    `${rows} The gradient is ∂α/∂e = α (1 − α): how much a weight moves with its own score, ` +
    "at most 0.25. A masked score gets none. A row’s sum is the trace of its Jacobian."
  );
}

/** The mask in Python, by the book's functions where they make it; empty where it is long. */
export function asCode({ store, nQ, nK }) {
  const mask = store.get("mask");
  const length = store.get("length");
  const made = (name) => sameMask(namedMask(name, nQ, nK, length), mask);
  const found = namedPresets(store).find(([name]) => made(name));
  if (found) return `mask = ${CODE[found[0]](nQ, nK, length)}`;
  if (mask.length > WRITTEN) return "";
  const rows = times(nQ, (i) => mask.slice(i * nK, (i + 1) * nK).map(Number));
  return `mask = torch.tensor([${rows.map((row) => `[${row.join(", ")}]`).join(", ")}]).bool()`;
}

const sizes = (nQ, nK) => (nQ === nK ? `${nQ}` : `${nQ}, ${nK}`);

const CODE = {
  all: (nQ, nK) => `torch.ones(${nQ}, ${nK}, dtype=torch.bool)`,
  causal: (nQ, nK) => `causal_mask(${sizes(nQ, nK)})`,
  past: (nQ, nK) => `torch.ones(${nQ}, ${nK}, dtype=torch.bool).tril(${nK - nQ - 1})`,
  padding: (nQ, nK, length) => `padding_mask([${length}], ${nK})[0].expand(${nQ}, ${nK})`,
  both: (nQ, nK, length) => `causal_mask(${sizes(nQ, nK)}) & padding_mask([${length}], ${nK})[0]`,
  window: (nQ, nK) => `window_mask(${nQ}, ${nK}, 2)`,
};

/** What follows from the mask, as the texts of a table. */
export function cells({ tokens, keyTokens, may, values, sums, nK, steep }) {
  const said = (at) => {
    if (may[at]) return fixed(values[at]);
    return values[at] === 0 ? "masked" : `masked, yet ${fixed(values[at])}`;
  };
  return [
    [steep ? "gradient" : "weights", ...keyTokens.map(visible), "sum"],
    ...tokens.map((token, i) => [visible(token), ...times(nK, (j) => said(i * nK + j)), fixed(sums[i])]),
  ];
}
