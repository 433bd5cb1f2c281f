// The heads in words and numbers: titles, the status line, the table.

import { el, scroller, setText, table } from "./dom.js";
import { entropy } from "./math.js";
import { fixed, plain, visible } from "./text.js";

const CELLS = 160; // a table with more would make the page heavy: it names the largest instead
const NEAR = 5e-4; // weights that read the same to three decimals

export const HINT = "Click a small map to enlarge it and tick heads to compare them; click a row of "
  + "the large map to pin its query. Arrow keys, Enter and Space do the same.";

/** "a", "a and b", "a, b and c". */
const listed = (names) => (names.length < 2 ? names.join("")
  : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);

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
function sharpest(view, head, i) {
  const { nK } = head;
  const keys = view.keyTokens.map((token, j) => ({ token: visible(token), at: i * nK + j }))
    .filter(({ at }) => view.may[at]);
  if (!keys.length) return "nothing: every key is masked";
  const most = Math.max(...keys.map(({ at }) => head.weights[at]));
  const best = keys.filter(({ at }) => most - head.weights[at] < NEAR);
  if (best.length === 1) return `${best[0].token} ${fixed(most)}`;
  const named = best.length > 2 ? `${best.length} keys alike,`
    : best.map(({ token }) => token).join(", ");
  return `${named} ${fixed(most)} each`;
}

/** e to the entropy of a row: the number of keys that it is spread over. */
const spread = ({ weights, nK }, i) => Math.exp(entropy(weights.subarray(i * nK, (i + 1) * nK)));

const sees = ({ may, mean: { nK } }, i) => may.subarray(i * nK, (i + 1) * nK).includes(1);

/** Under a small map: where the pinned query looks, or how decided the head is altogether. */
export function headWords(view, h) {
  const head = view.heads[h];
  const i = view.store.get("row");
  if (i !== null) {
    const found = sharpest(view, head, i);
    return sees(view, i) ? `most to ${found}\nover ${fixed(spread(head, i), 1)} keys` : found;
  }
  const full = view.tokens.map((_, row) => row).filter((row) => sees(view, row));
  if (!full.length) return "nothing: every key is masked";
  const sum = full.reduce((total, row) => total + spread(head, row), 0);
  return `over ${fixed(sum / full.length, 1)} keys a row`;
}

/** The matrices that a sentence speaks of: those shown, and their average beside several. */
function spoken(view) {
  const { heads, names } = shownAs(view);
  return heads.map((head, place) => ({ head, name: names[place] }))
    .concat(heads.length > 1 ? [{ head: view.mean, name: "their average" }] : []);
}

/** One cell: "nuts → bowl: 0.090 in head 0, 0.612 in head 1, 0.351 in their average". */
export function describe(view, { i, j }) {
  const at = i * view.mean.nK + j;
  const names = `${visible(view.tokens[i])} → ${visible(view.keyTokens[j])}`;
  if (!view.may[at]) return `${names}: masked`;
  const all = spoken(view);
  const said = all.map(({ head, name }) => `${fixed(head.weights[at])} in ${name}`).join(", ");
  const score = all.length === 1 && all[0].head !== view.mean
    ? ` (score ${plain(all[0].head.scores[at])})` : "";
  return `${names}: ${said}${score}`;
}

export function describeRow(view, i) {
  const token = visible(view.tokens[i]);
  if (!sees(view, i)) return `${token} is pinned; it attends to nothing: every key is masked.`;
  const said = spoken(view).map(({ head, name }) => `${sharpest(view, head, i)} in ${name}`);
  return `${token} is pinned; it attends most to ${said.join("; ")}.`;
}

const line = (view, name, head, i) => {
  const [from, to] = [i * head.nK, (i + 1) * head.nK];
  return { name, weights: head.weights.subarray(from, to), may: view.may.subarray(from, to) };
};

/** The table: of the pinned query a row for each head, or else the queries of the large map. */
export function told(view) {
  const { heads, names, tokens, store } = view;
  const i = store.get("row");
  if (i === null) {
    const shown = shownAs(view);
    const many = shown.heads.length > 1;
    return { corner: many ? "query, head" : "query", lines: tokens.flatMap((token, q) =>
      shown.heads.map((head, place) => line(view,
        `${visible(token)}${many ? `, ${shown.names[place]}` : ""}`, head, q))) };
  }
  const chosen = store.get("chosen");
  const fits = (heads.length + 1) * view.keyTokens.length <= CELLS;
  const which = fits || !chosen.length ? heads.map((_, h) => h) : chosen;
  const lines = which.map((h) => line(view, names[h], heads[h], i));
  if (view.averaged.length > 1) lines.push(line(view, averageTitle(view), view.mean, i));
  return { corner: `${visible(tokens[i])}: head`, lines };
}

/** The three largest weights of a row, in words. */
function largest(view, { weights, may }) {
  const best = view.keyTokens.map((token, j) => ({ token: visible(token), j }))
    .filter(({ j }) => may[j]).sort((a, b) => weights[b.j] - weights[a.j]).slice(0, 3);
  return best.map(({ token, j }) => `${token} ${fixed(weights[j])}`).join(", ")
    || "nothing: every key is masked";
}

/** The table's texts, as rows: every number where they are few, else the largest of each row. */
function cells(view) {
  const { corner, lines } = told(view);
  if (lines.length * view.keyTokens.length > CELLS) {
    const rows = lines.map((each) => [each.name, largest(view, each)]);
    return [[corner, "attends most to"], ...rows];
  }
  return [[corner, ...view.keyTokens.map(visible)], ...lines.map(({ name, weights, may }) =>
    [name, ...Array.from(weights, (weight, j) => (may[j] ? fixed(weight) : "masked"))])];
}

/** The table twin: made when it is first opened, kept up to date while open. */
export function twin(view) {
  const node = el("details", { class: "attnbook-twin", ontoggle: () => show() },
    el("summary", {}, "the same as a table"));
  let drawn = null;
  const show = () => {
    if (!node.open) return;
    const rows = cells(view);
    const same = drawn?.rows.length === rows.length
      && drawn.rows[0].cells.length === rows[0].length;
    if (same) {
      rows.forEach((row, r) => row.forEach((text, c) => setText(drawn.rows[r].cells[c], text)));
      return;
    }
    const place = drawn?.parentNode;
    drawn = table(rows[0], rows.slice(1));
    if (place) place.replaceChildren(drawn);
    else node.append(scroller("Attention weights as a table", drawn));
  };
  return { node, show };
}
