// The player in words and numbers: the status line, the scores against gold, the table.

import { entropy, rowAt } from "../core/maths/nn.js";
import { scroller, table } from "../core/view/dom.js";
import { fixed, heaviest, plain, quoted, visible } from "../core/view/text.js";
import { agreement } from "./maths.js";

/** One word: its largest weights, its entropy in bits, its predicted links and its gold ones. */
function tell({ source, nS, weights, links, gold }, t, name = visible) {
  const row = rowAt(weights, t, nS);
  const own = (places) => source.filter((_, s) => places?.includes(t * nS + s)).map(name);
  const [missed, extra] = [
    [gold, links],
    [links, gold],
  ].map(([these, those]) => own(these?.filter((at) => !those?.includes(at))));
  const bits = entropy(row) / Math.LN2;
  return { most: heaviest(source, row, undefined, name), bits, links: own(links), gold: own(gold), missed, extra };
}

const list = (names) => names.join(", ") || "none";

/** What the current word does, and whether the predicted links are the gold ones. */
export function describe({ now, word, store }) {
  const { most, bits, links, gold, missed, extra } = tell(now, word, quoted);
  const verdict =
    [
      ["missed", missed],
      ["too many", extra],
    ]
      .filter(([, names]) => names.length)
      .map(([what, names]) => `${what}: ${list(names)}`)
      .join("; ") || "they agree";
  if (!store.get("scored")) return `${quoted(now.target[word])} looks most at ${most}.`;
  return (
    `${quoted(now.target[word])} looks most at ${most}; entropy ${fixed(bits, 2)} bits, as if spread ` +
    `evenly over ${fixed(2 ** bits, 1)} words. ` +
    `Links at θ = ${plain(store.get("threshold"))}: ${list(links)}. ` +
    (now.gold ? `Gold: ${list(gold)}; ${verdict}.` : "This sentence has no gold links.")
  );
}

/** Error rate, precision and recall, of this sentence and of all; empty where no gold is known. */
export function scoreTable(view) {
  const known = view.all.filter((one) => one.known);
  const node = scroller("Links compared with gold");
  const show = () => {
    node.hidden = !known.length || !view.store.get("scored");
    const lines = [
      ["this sentence", known.filter((one) => one === view.now)],
      [`all ${known.length} with gold links`, known],
    ].slice(0, view.all.length);
    const kinds = [
      [`α ≥ ${plain(view.store.get("threshold"))}`, "links"],
      ["largest α", "greatest"],
    ];
    node.replaceChildren(
      table(
        ["compared with gold", "error rate", "precision", "recall"],
        lines.flatMap(([whose, which]) =>
          kinds.map(([what, key]) => [
            `${whose}, ${what}`,
            ...agreement(which.map((one) => [one[key], one.known])).map((value) =>
              value === null ? "–" : fixed(value),
            ),
          ]),
        ),
      ),
    );
  };
  return { node, show };
}

/** Each word's largest weights, entropy and links, as the texts of a table. */
export function cells({ now, store }) {
  const last = store.get("scored") ? (now.gold ? 5 : 4) : 2;
  const rows = now.target.map((token, t) => {
    const { most, bits, links, gold } = tell(now, t);
    return [token, most, fixed(bits, 2), list(links), list(gold)];
  });
  return [["word", "looks most at", "bits", "links", "gold"], ...rows].map((row) => row.slice(0, last));
}
