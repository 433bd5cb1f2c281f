// What the present step of the unrolled model does, in words.

import { fixed, quoted } from "../core/view/text.js";

export const EOS = 2;

export function said(view) {
  const { step, last, n } = view.now;
  const what = step < n ? reading : step === n ? summary : writing;
  return `Step ${step + 1} of ${last + 1}, ${what(view)}`;
}

const reading = ({ now: { step, n, words } }) =>
  `reading: → reads ${quoted(words[step])}, ← reads ${quoted(words[n - 1 - step])}.`;

const summary = ({ now: { states } }) =>
  `the summary: the last states of → and ← become s₀, ${states[0].length} numbers. The writer ` +
  "gets nothing else of what was read.";

function writing({ names, now: { t, steps, forced } }) {
  const { reads, p, best, word } = steps[t - 1];
  const whose = t === 1 ? "" : forced[t - 1] === undefined ? ", its own" : ", forced";
  const loss = fixed(-Math.log(Math.max(p[word], Number.MIN_VALUE)));
  return (
    `writing: the writer reads ${quoted(names[reads])}${whose}. ` +
    `Most probable next: ${quoted(names[best])} (${fixed(p[best])}).` +
    (forced[t] === undefined
      ? ""
      : ` Forced: ${quoted(names[word])}, of probability ` + `${fixed(p[word])}, a loss of −ln p = ${loss}.`) +
    (t < steps.length ? "" : ending(names, steps))
  );
}

function ending(names, steps) {
  const words = steps.map(({ word }) => word);
  const text = words
    .filter((word) => word !== EOS)
    .map((word) => names[word])
    .join(" ");
  return words.includes(EOS)
    ? ` ${names[EOS]} ends the sentence: ${text || "no word at all"}.`
    : ` Cut off after ${words.length} words: ${text}.`;
}
