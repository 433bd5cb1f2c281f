// The heat map in words and numbers: the status line, the pinned row's bars, the table.

import { rowAt } from "../core/maths/nn.js";
import { shownHead } from "../core/view/row.js";
import { fixed, heaviest, plain, quoted, visible } from "../core/view/text.js";

const headName = (view) => (view.heads.length > 1 ? `head ${view.store.get("head")}: ` : "");

/** One cell: "nuts → bowl 0.090 (score 5, scaled 2.887)". */
export function describe(view, { i, j }) {
  const head = shownHead(view);
  const at = i * head.nK + j;
  const names = `${headName(view)}${visible(view.tokens[i])} → ${visible(view.keyTokens[j])}`;
  if (!view.may[at]) return `${names}: masked`;
  const { store } = view;
  const score = head.scores[at];
  const root = store.get("scaled") ? Math.sqrt(store.get("d")) : 1;
  const said = [`score ${plain(score)}`];
  if (root !== 1) said.push(`scaled ${plain(score / root)}`);
  if (store.get("temperature") !== 1) said.push(`divided by temperature ${plain(score / view.by)}`);
  return `${names} ${fixed(head.weights[at])} (${said.join(", ")})`;
}

export function describeRow(view, i) {
  const { weights, nK } = shownHead(view);
  const most = heaviest(view.keyTokens, rowAt(weights, i, nK), (j) => view.may[i * nK + j], quoted);
  return `${headName(view)}${quoted(view.tokens[i])} is pinned; it attends most to ${
    most || "nothing: every key is masked"
  }.`;
}

/** All weights, as the texts of a table. */
export function cells(view) {
  const { may, tokens, keyTokens } = view;
  const { weights, nK } = shownHead(view);
  return [
    ["query", ...keyTokens.map(visible)],
    ...tokens.map((token, i) => [
      visible(token),
      ...keyTokens.map((_, j) => (may[i * nK + j] ? fixed(weights[i * nK + j]) : "masked")),
    ]),
  ];
}
