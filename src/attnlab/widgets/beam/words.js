// The search in words: what happened at this word, what became of one candidate, and the tables.

import { path } from "../core/maths/beam.js";
import { el, note, scroller, setText, table, twin } from "../core/view/dom.js";
import { factor, fixed, visible } from "../core/view/text.js";

const PRUNED = 3; // of the candidates that do not stay, as many are shown

/** The candidates of one word that are shown. */
export const drawn = ({ all, kept }) => all.slice(0, kept.length + PRUNED);

const share = (log) => String(Number(Math.exp(log).toPrecision(3)));

const written = (view, one) =>
  path(one)
    .map(({ word }) => visible(view.names[word]))
    .join(" ");
const told = (view, one) => `“${written(view, one)}” (${fixed(one.logP)})`;

/** What became of the candidate at a place, and why. */
export function fate(view, { all, kept }, at) {
  const over = all[at].word === view.eos ? ": it has ended and is put aside" : "";
  return at < kept.length ? `kept${over}` : `pruned: number ${at + 1} of the candidates, and k = ${view.beam}`;
}

/** One candidate's sum. */
export function describe(view, { n, place }) {
  const step = view.now.steps[n - 1];
  const one = step.all[place];
  const before = fixed(one.before.logP);
  return `“${written(view, one)}”: log p = ${before} + ln ${share(one.log)} = ${before} + ${factor(
    one.log,
  )} = ${fixed(one.logP)}; ${fate(view, step, place)}.`;
}

/** What happened at the word that the reader has come to. */
export function status(view) {
  const {
    steps,
    ranking: [best],
  } = view.now;
  if (!view.step) return "Nothing is written yet. Press “next”: the possible first words compete.";
  const { all, kept } = steps[view.step - 1];
  const living = kept.filter(({ word }) => word !== view.eos);
  const over = kept.filter(({ word }) => word === view.eos);
  const list = (name, found) => (found.length ? ` ${name}: ${found.map((one) => told(view, one)).join(", ")}.` : "");
  const why = !living.length
    ? "no hypothesis lives on"
    : view.step === view.longest
      ? "no more words are allowed"
      : "what lives on can no longer come among the best";
  const end =
    view.step < steps.length
      ? ""
      : ` The search is over: ${why}.${best ? ` Best: “${written(view, best.one)}”, score ${fixed(best.score)}.` : ""}`;
  return `Word ${view.step}, k = ${view.beam}, candidates: ${all.length}.${list(
    "Kept",
    living,
  )}${list("Ended and put aside", over)}${end}`;
}

/** The hypotheses that have ended, and the candidates of this word, as tables. */
export function tables(view) {
  const title = note();
  const ranking = scroller("The hypotheses that have ended");
  const now = () => view.now.steps[view.step - 1];
  const { node: folded, show: compete } = twin("The candidates of this word", () => competing(view, now()), "");
  const show = () => {
    const { steps, ranking: final } = view.now;
    const over = view.step === steps.length;
    const rows = (over ? final : now()?.ended) ?? [];
    setText(
      title,
      `${over ? "The ranking" : rows.length ? "Ended so far" : "None has ended yet"}: ` +
        `score = log p / n^α, α = ${view.penalty}, n words with ${view.names[view.eos]}.`,
    );
    ranking.replaceChildren(
      ...(rows.length
        ? [
            table(
              ["hypothesis", "log p", "n", "score"],
              rows.map((row) => ranked(view, row)),
            ),
          ]
        : []),
    );
    folded.hidden = !now();
    setText(folded.firstChild, `The candidates for word ${view.step} as a table`);
    if (now()) compete();
  };
  return { node: el("div", {}, title, ranking, el("div", "foot", folded)), show };
}

const ranked = (view, { one, n, score }) => [
  written(view, one) + (one.word === view.eos ? "" : " (unfinished)"),
  fixed(one.logP),
  String(n),
  fixed(score),
];

function competing(view, step) {
  const rows = drawn(step).map((one, at) => [
    written(view, one),
    fixed(one.before.logP),
    share(one.log),
    fixed(one.logP),
    fate(view, step, at),
  ]);
  const more = step.all.length - rows.length;
  if (more) rows.push([`and ${more} more`, "", "", "", "pruned"]);
  return [["hypothesis", "log p before", "p of the last word", "log p", "fate"], ...rows];
}
