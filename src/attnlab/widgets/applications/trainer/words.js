// What the training says: where it stands, what went wrong, what a head's removal takes.

import { fixed, listed, visible } from "../../core/view/text.js";
import { bend, LAST } from "./course.js";
import { headName } from "./heads.js";

const NOTE =
  "Right: the share of right guesses where the symbol has stood before, so that its answer can be copied; dashed: " +
  "where it is new. Pale: runs that are done. Shares and scores are of 60 texts that no step has seen. A head " +
  "without its tick hands over zeros; nothing is trained anew.";

export const noted = ({ heads, ids, guesses }) =>
  NOTE +
  (heads > 1 ? " Head 0.1 is head 1 of layer 0." : "") +
  (guesses.some(({ symbol }) => !ids.includes(symbol)) ? " “?” is a symbol that your text does not have." : "");

const large = (value) => (value < 1e4 ? fixed(value, 2) : value.toExponential(1).replace("e+", " · 10^"));
const share = (value) => (value === null ? "–" : fixed(value, 2));

/** The line of numbers under the curves. */
export function numbers({ step, loss, whole, less, off }) {
  if (!whole) return "";
  const lost = loss === null ? "" : `loss ${large(loss)}`;
  const all = off.length ? `, with all heads ${share(whole.before)}${lost && ` and the ${lost}`}` : "";
  const first = all || !lost ? "" : `${lost}; `; // the loss is that of all heads
  return `Step ${step} of ${LAST}: ${first}right ${share(less.before)}${all}; where the symbol is new, ${share(less.fresh)}.`;
}

const best = (scores) => scores.reduce((most, one, at) => (one > scores[most] ? at : most), 0);

/** Which head gives most to the previous symbol, and which to what came next. */
function scored({ heads, whole }) {
  const one = (scores, what) => {
    const at = best(scores);
    return `${headName(Math.floor(at / heads), at % heads, heads)} gives ${share(scores[at])} to ${what}`;
  };
  if (whole.next[0] === null) return "";
  const [first, second] = [one(whole.previous, "the previous symbol"), one(whole.next, "what came next before")];
  return ` ${heads > 1 ? "Most of all heads, " : ""}${first}; ${second}.`.replace(/^ l/, " L");
}

function removed({ off, heads, whole, less }) {
  const names = listed(off.map(([layer, head]) => headName(layer, head, heads)));
  return `Without ${names}, right where the symbol has stood before: ${share(less.before)} instead of ${share(whole.before)}.`;
}

/** What cannot be learned, or is learned at once. */
export function warned({ symbols, shortest, longest, length, kinds }) {
  const [from, to] = [Math.min(shortest, longest), Math.max(shortest, longest)];
  if (symbols === 1) return "There is one symbol, so the answer is known before the first step: the loss is 0.";
  if (from > length)
    return (
      `No text comes to its repetition: it would begin after ${from} symbols at the earliest, and ${length} are ` +
      "read. There is nothing to copy, and the loss stays at an even guess."
    );
  if (to > length) return `Periods above ${length} are longer than a text: such texts do not repeat themselves.`;
  if (kinds > symbols)
    return `The model knows ${symbols} symbols: of your text's ${kinds}, those after these are taken for the first ones.`;
  return "";
}

/** What stopped a run, or threw it off. */
export function broke({ broken, step, rate, worst, even }) {
  const mend = "Choose a smaller learning rate, or reset.";
  if (broken)
    return `Stopped before step ${step + 1}: ${broken}, and nothing can be learned from that. A rate of ${rate} may throw the weights too far. ${mend}`;
  if (worst > 2 * even + 0.5)
    return `The loss went up to ${large(worst)}; that of an even guess is ${fixed(even, 2)}. Steps at a rate of ${rate} throw the weights too far. ${mend}`;
  return "";
}

/** The line that is read aloud, beside the numbers. */
export function said(now) {
  const { step, running, recorded, off, points, name } = now;
  if (off.length) return removed(now);
  if (recorded) return `Recorded: ${name}.${scored(now)} Start, and the same model learns here, from nothing.`;
  if (step === 0)
    return running ? "It learns." : "Nothing is learned yet: the weights are random. Start, or take one step.";
  const at = step >= LAST ? bend(points) : null;
  const bent = at ? ` The loss was halfway down at step ${at}.` : "";
  const where = running ? `At step ${step}.` : step >= LAST ? "Done." : "Paused.";
  return `${where}${bent}${scored(now)}`;
}

/** The table of a run: a row for each point. */
export function rows({ points, layers, heads }) {
  const all = Array.from({ length: layers * heads }, (_, at) => headName(Math.floor(at / heads), at % heads, heads));
  const head = ["step", "loss", "right", "right where new"];
  const of = (what) => all.map((name) => `${name}, ${what}`);
  return [
    [...head, ...of("previous"), ...of("came next")],
    ...points
      .filter((_, at) => at % 5 === 0 || at === points.length - 1)
      .map(([step, loss, before, fresh, previous, next]) => [
        String(step),
        loss === null ? "–" : large(loss),
        ...[before, fresh, ...previous, ...next].map(share),
      ]),
  ];
}

/** The text with what the model guessed of each symbol: texts of two rows. */
export function guessed(names, ids, guesses, symbols) {
  const nameOf = (symbol) => {
    const at = ids.findIndex((id) => id % symbols === symbol);
    return at < 0 ? "?" : visible(names[at]);
  };
  return guesses.map(({ symbol }, i) => ({
    name: nameOf(symbol),
    right: i + 1 < ids.length ? symbol === ids[i + 1] % symbols : null,
  }));
}
