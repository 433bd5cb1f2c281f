// What reaches the pinned piece: how near its last vector is to those of two others, and what becomes
// of that when one word of the sentence is another.

import { bar, el, mark, setText, setVar } from "../../core/view/dom.js";
import { fixed, quoted } from "../../core/view/text.js";
import { labels } from "../../parts/labels.js";
import { found, prepared } from "./run.js";

const KEPT = 4; // sentences that were read and may be turned to again
const SPECIAL = ["[CLS]", "[SEP]"];
const ARTICLES = ["the", "a", "an"];

/** Words out of pieces. */
const joined = (tokens) => tokens.join(" ").replaceAll(" ##", "").split(" ");

/** The one word by which a sentence differs from another, and the other's; else none. @type {(tokens: string[], others: string[]) => string[]|null} */
export function changedWord(tokens, others) {
  const [mine, theirs] = [tokens, others].map(joined);
  const odd = mine.flatMap((word, at) => (word === theirs[at] ? [] : [[word, theirs[at]]]));
  return mine.length === theirs.length && odd.length === 1 ? odd[0] : null;
}

/** The places of pieces that the pinned one can be compared with. */
const others = ({ tokens, now }) =>
  tokens.map((_, j) => j).filter((j) => j !== now.row && !SPECIAL.includes(tokens[j]));

/**
 * The two places that are compared: those of `between`, and where the sentence lacks one, the first
 * piece after an article, else the longest.
 */
function compared(view) {
  const { tokens, names, store } = view;
  const all = others(view);
  const long = (j) => (tokens[j].startsWith("##") ? 0 : tokens[j].length);
  const rank = (j) => (ARTICLES.includes(tokens[j - 1]) ? 100 : long(j));
  const free = [...all].sort((a, b) => rank(b) - rank(a) || a - b);
  const chosen = store.get("between").map((name) => all.find((j) => names[j] === name) ?? null);
  return [0, 1].map((k) => {
    const at = chosen[k] ?? free.find((j) => !chosen.includes(j)) ?? null;
    chosen[k] = at;
    return at;
  });
}

/** A number after a minus sign. @type {(text: string) => string} */
const minus = (text) => (text.startsWith("−") ? `(${text})` : text);

/** cos(u_i, u_a) − cos(u_i, u_b). */
const lean = (near, n, i, [a, b]) => near[i * n + a] - near[i * n + b];

/** Keep what was read, so that the next sentence may be compared with it. @type {(view: any, ready: any) => void} */
export function keep(view, ready) {
  view.read.delete(ready.text);
  view.read.set(ready.text, ready);
  if (view.read.size > KEPT) view.read.delete(view.read.keys().next().value);
}

/**
 * A sentence that differs from the shown one in one word, with the same heads off: the one read last,
 * else a stored one. The model reads a stored one first, and the view is drawn again.
 */
function partner(view, names) {
  const live = view.ready?.text === view.found.text;
  const texts = live ? [...view.read.values()].reverse() : [];
  for (const one of [...texts, ...(view.stored ?? [])]) {
    const words = changedWord(view.tokens, one.tokens);
    const theirs = labels(one.tokens);
    if (!words || !names.every((name) => theirs.includes(name))) continue;
    const places = names.map((name) => theirs.indexOf(name));
    if (!live) return { ...one, words, places };
    const ready = view.read.get(one.text);
    if (ready) return { ...found(ready, view.found.off), words, places };
    if (view.asked !== one.text) {
      view.asked = one.text;
      prepared(view, one.text).then(
        (other) => {
          view.asked = null;
          if (view.gone || other.why) return;
          view.read = new Map([[one.text, other], ...view.read]);
          view.redraw();
        },
        () => {}, // the vectors of one more word did not come: nothing is compared
      );
    }
    return null;
  }
  return null;
}

/** Two pieces to choose, a bar for each, and the sums. @type {(view: any) => import("../../core/types.d.ts").Part} */
export function leaning(view) {
  const { store } = view;
  const [title, sum, swing] = [el("p"), el("p"), el("p")];
  const lines = [0, 1].map((k) => {
    const change = (name) => {
      const pair = view.pair.map((j) => view.names[j]);
      if (pair[1 - k] === name) pair[1 - k] = pair[k]; // they change places
      pair[k] = name;
      store.set({ between: pair });
    };
    const box = el("select", { "aria-label": k ? "second piece" : "first piece", onchange: () => change(box.value) });
    const fill = bar();
    const value = el("span", "value");
    return { box, fill, value, drawn: null };
  });
  const node = el(
    "div",
    "lean",
    title,
    el(
      "div",
      "two",
      lines.flatMap(({ box, fill, value }) => [box, fill.node, value]),
    ),
    sum,
    swing,
  );
  const show = ({ row: i }) => {
    const { found, names, tokens } = view;
    view.pair = i === null ? [null, null] : compared(view);
    node.hidden = view.pair.includes(null);
    if (node.hidden) return;
    const n = tokens.length;
    const some = found.off.length > 0;
    title.replaceChildren(
      "How near ",
      el("b", {}, names[i]),
      ` is in the last layer to two other pieces (cosine${some ? "; in brackets and as a line: with every head on" : ""}):`,
    );
    const told = (value, was) => (some ? `${fixed(value)} (${fixed(was)})` : fixed(value));
    const all = others(view);
    lines.forEach((line, k) => {
      const key = all.map((j) => names[j]).join(" ");
      if (line.drawn !== key) line.box.replaceChildren(...all.map((j) => el("option", {}, names[j])));
      line.drawn = key;
      line.box.selectedIndex = all.indexOf(view.pair[k]);
      const [value, was] = [found.near, found.intact].map((near) => near[i * n + view.pair[k]]);
      line.fill.show(Math.max(0, value));
      setVar(line.fill.node, "was", Math.max(0, was));
      mark(line.fill.node, "marked", some);
      setText(line.value, told(value, was));
    });
    const mine = [found.near, found.intact].map((near) => lean(near, n, i, view.pair));
    const [a, b] = view.pair.map((j) => fixed(found.near[i * n + j]));
    const what = `The lean of ${quoted(names[i])} to ${quoted(names[view.pair[0]])}`;
    setText(sum, `${what}: ${a} − ${minus(b)} = ${told(...mine)}.`);
    const other = partner(
      view,
      [i, ...view.pair].map((j) => names[j]),
    );
    swing.hidden = !other;
    if (!other) return;
    const [at, ...places] = other.places;
    const theirs = [other.near, other.intact].map((near) => lean(near, other.tokens.length, at, places));
    const [word, instead] = other.words.map(quoted);
    setText(
      swing,
      `With ${instead} in place of ${word}: ${told(...theirs)}. The swing, by this one word: ` +
        `${fixed(mine[0])} − ${minus(fixed(theirs[0]))} = ${told(mine[0] - theirs[0], mine[1] - theirs[1])}.`,
    );
  };
  return { node, show };
}
