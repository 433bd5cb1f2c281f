// The pinned query's weights over the keys: for each key a bar for each chosen head, and for
// their average.

import { el, setVar } from "../core/view/dom.js";
import { rowSide } from "../core/view/plot.js";
import { fixed, visible } from "../core/view/text.js";
import { look } from "./grid.js";
import { tag } from "./words.js";

const LANES = 24; // bars in all, so that they stay near the map
const FEWEST = 4; // keys, however many heads
const KEYS = 12; // of a longer row only the keys with the largest weights are shown

/** What has a bar: each chosen head, and the average where it is what the large map shows. */
function lanes(view) {
  const chosen = view.store.get("chosen");
  const own = chosen.map((h) => ({ name: tag(view, h), head: view.heads[h], ...look(h) }));
  const mean = { name: "average", head: view.mean, colour: "muted", pattern: "hollow" };
  return view.store.get("large") === "average" || !own.length ? [...own, mean] : own;
}

/** The keys shown, in order or, where there are many, the heaviest first. */
function keys(view, i, drawn) {
  const { nK } = view.mean;
  const all = view.keyTokens.map((token, j) => ({
    j,
    token: visible(token),
    most: Math.max(...drawn.map(({ head }) => head.weights[i * nK + j])),
  }));
  const most = Math.min(KEYS, Math.max(FEWEST, Math.floor(LANES / drawn.length)));
  return all.length <= most ? all : all.sort((a, b) => b.most - a.most).slice(0, most);
}

export function rowBars(view) {
  const i = view.store.get("row");
  if (i === null) return view.side.replaceChildren();
  const drawn = lanes(view);
  const shown = keys(view, i, drawn);
  const rest = view.keyTokens.length - shown.length;
  const list = el(
    "ol",
    "groups",
    shown.map(({ j, token }) =>
      el(
        "li",
        {},
        el("span", "token", token),
        el(
          "div",
          {},
          drawn.map((lane) => bar(view, lane, i * view.mean.nK + j)),
        ),
      ),
    ),
  );
  const widest = Math.max(...drawn.map(({ name }) => Array.from(name).length));
  setVar(list, "tag", `${Math.min(10, widest) + 0.5}ch`);
  return rowSide(view, list, rest && `and ${rest} keys with less`);
}

/** One bar: whose it is, how long, and the number. */
function bar(view, { name, head, colour, pattern }, at) {
  const may = view.may[at];
  const node = el(
    "span",
    { class: "lane", "data-pattern": pattern },
    el("b", {}, name),
    " ",
    may ? fixed(head.weights[at]) : "masked",
  );
  setVar(node, "w", head.weights[at]);
  setVar(node, "c", `var(--attnbook-${colour})`);
  return node;
}
