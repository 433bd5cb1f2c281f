// The heads in words and numbers: titles, the status line, the table.

import { entropy, rowAt } from "../core/maths/nn.js";
import { fixed, heaviest, listed, plain, quoted, visible } from "../core/view/text.js";

const CELLS = 160; // a table with more would make the page heavy: it names the largest instead
const NOTHING = "nothing: every key is masked";
const NEAR = 5e-4; // weights that read the same to three decimals

export const HINT =
  "Press a small map to enlarge it and tick heads to compare them; press a row of " +
  "the large map to pin its query. Arrow keys, Enter and Space do the same.";

/** A head's name where there is little room: the number alone where the name says no more. */
export const tag = ({ names }, h) => (names[h] === `head ${h}` ? String(h) : names[h]);

/** Which matrices the large map shows, and what they are called. */
export function shownAs(view) {
  const { store, heads, names } = view;
  const [chosen, large] = [store.get("chosen"), store.get("large")];
  const average = { heads: [view.mean], names: ["the average"], title: averageTitle(view) };
  if (large === "one" || (large === "chosen" && chosen.length === 1)) {
    const h = large === "one" ? store.get("head") : chosen[0];
    return { heads: [heads[h]], names: [names[h]], title: names[h] };
  }
  if (large === "average" || !chosen.length) return average;
  const called = chosen.map((h) => names[h]);
  const title = `${listed(called)}: in each cell a bar for each, in this order`;
  return { heads: chosen.map((h) => heads[h]), names: called, title };
}

function averageTitle({ averaged, heads, names, store }) {
  const all = averaged.length === heads.length && heads.length > 2;
  const whose = all ? `all ${heads.length} heads` : listed(averaged.map((h) => names[h]));
  return `${store.get("chosen").length ? "" : "no head is chosen: "}average of ${whose}`;
}

/** One row's largest weight: "nuts 0.905", "had, bowl 0.455 each", "5 keys alike, 0.200 each". */
function sharpest(view, head, i, name = visible) {
  const { nK } = head;
  const keys = view.keyTokens
    .map((token, j) => ({ token: name(token), at: i * nK + j }))
    .filter(({ at }) => view.may[at]);
  if (!keys.length) return NOTHING;
  const most = Math.max(...keys.map(({ at }) => head.weights[at]));
  const best = keys.filter(({ at }) => most - head.weights[at] < NEAR);
  if (best.length === 1) return `${best[0].token} ${fixed(most)}`;
  const named = best.length > 2 ? `${best.length} keys alike,` : best.map(({ token }) => token).join(", ");
  return `${named} ${fixed(most)} each`;
}

/** e to the entropy of a row: the number of keys that it is spread over. */
const spread = ({ weights, nK }, i) => Math.exp(entropy(rowAt(weights, i, nK)));

const sees = ({ may, mean: { nK } }, i) => rowAt(may, i, nK).includes(1);

/** Under a small map: where the pinned query looks, or how decided the head is altogether. */
export function headWords(view, h) {
  const head = view.heads[h];
  const i = view.store.get("row");
  if (i !== null) {
    const found = sharpest(view, head, i);
    return sees(view, i) ? `most to ${found}` : found;
  }
  const full = view.tokens.map((_, row) => row).filter((row) => sees(view, row));
  if (!full.length) return NOTHING;
  const sum = full.reduce((total, row) => total + spread(head, row), 0);
  return `over ${fixed(sum / full.length, 1)} keys a row`;
}

/** The matrices that a sentence speaks of: those shown. */
function spoken(view) {
  const { heads, names } = shownAs(view);
  return heads.map((head, place) => ({ head, name: names[place] }));
}

/** One cell: "nuts → bowl: 0.090 in head 0, 0.612 in head 1". */
export function describe(view, { i, j }) {
  const at = i * view.mean.nK + j;
  const names = `${visible(view.tokens[i])} → ${visible(view.keyTokens[j])}`;
  if (!view.may[at]) return `${names}: masked`;
  const all = spoken(view);
  const said = all.map(({ head, name }) => `${fixed(head.weights[at])} in ${name}`).join(", ");
  const score = all.length === 1 && all[0].head !== view.mean ? ` (score ${plain(all[0].head.scores[at])})` : "";
  return `${names}: ${said}${score}`;
}

export function describeRow(view, i) {
  const token = quoted(view.tokens[i]);
  if (!sees(view, i)) return `${token} is pinned; it attends to ${NOTHING}.`;
  const said = spoken(view).map(({ head, name }) => `${sharpest(view, head, i, quoted)} in ${name}`);
  return `${token} is pinned; it attends most to ${said.join("; ")}.`;
}

const line = ({ may }, name, { weights, nK }, i) => ({ name, weights: rowAt(weights, i, nK), may: rowAt(may, i, nK) });

/** The table: of the pinned query a row for each head, or else the queries of the large map. */
export function told(view) {
  const { heads, names, tokens, store } = view;
  const i = store.get("row");
  if (i === null) {
    const shown = shownAs(view);
    const many = shown.heads.length > 1;
    return {
      corner: many ? "query, head" : "query",
      lines: tokens.flatMap((token, q) =>
        shown.heads.map((head, place) =>
          line(view, `${visible(token)}${many ? `, ${shown.names[place]}` : ""}`, head, q),
        ),
      ),
    };
  }
  const chosen = store.get("chosen");
  const fits = (heads.length + 1) * view.keyTokens.length <= CELLS;
  const which = fits || !chosen.length ? heads.map((_, h) => h) : chosen;
  const lines = which.map((h) => line(view, names[h], heads[h], i));
  if (view.averaged.length > 1) lines.push(line(view, averageTitle(view), view.mean, i));
  return { corner: `${visible(tokens[i])}: head`, lines };
}

/** The table's texts, as rows: every number where they are few, else the largest of each row. */
export function cells(view) {
  const { corner, lines } = told(view);
  if (lines.length * view.keyTokens.length > CELLS) {
    const rows = lines.map(({ name, weights, may }) => [
      name,
      heaviest(view.keyTokens, weights, (j) => may[j]) || NOTHING,
    ]);
    return [[corner, "attends most to"], ...rows];
  }
  return [
    [corner, ...view.keyTokens.map(visible)],
    ...lines.map(({ name, weights, may }) => [
      name,
      ...Array.from(weights, (weight, j) => (may[j] ? fixed(weight) : "masked")),
    ]),
  ];
}
