// The translation as words, each with its probability and its rivals, and the tables of it all.

import { path } from "../../core/maths/beam.js";
import { rowAt } from "../../core/maths/nn.js";
import { written } from "../../core/maths/number.js";
import {
  bar,
  button,
  el,
  mark,
  nodes,
  note,
  pressed,
  scroller,
  setText,
  setVar,
  table,
  together,
  twin,
} from "../../core/view/dom.js";
import { fixed, heaviest, listed, quoted, visible } from "../../core/view/text.js";
import { changed } from "./run.js";

const EOS = 2;
const RIVALS = 5;
const MOST_NAMED = 4; // heads that are off; of more, how many
const SHORT = { cross: "decoder → source", encoder: "encoder", decoder: "decoder" };
const MOST_CELLS = 160; // of a larger map the table names the largest weights alone

const capital = (text) => text[0].toUpperCase() + text.slice(1);

/**
 * The source's pieces: under each, how much the pressed piece of the translation looked at it.
 * @type {(view: any) => import("../../core/types.d.ts").Part}
 */
export function sources(view) {
  const list = el("ol", { class: "source", "aria-label": "the source in pieces" });
  const said = note();
  let drawn = null;
  const show = ({ part, at, names }) => {
    const { sentence } = view.result;
    if (drawn !== sentence) {
      drawn = sentence;
      list.replaceChildren(
        ...sentence.map((name, place) => el("li", view.reader.inside(sentence, place) ? "inside" : {}, visible(name))),
      );
    }
    const row = part === "cross" && at >= 0 ? rowAt(view.head.weights, at, sentence.length) : null;
    Array.from(list.children, (item, place) => setVar(item, "share", row ? row[place].toFixed(3) : 0));
    setText(
      said,
      row
        ? `The bars: how much of each the model looked at while it wrote ${quoted(names[at])}.`
        : "Press a piece of the translation: bars show which of these the model looked at while it wrote it.",
    );
  };
  return { node: el("div", {}, list, said), show };
}

/** What was changed in the model, and what it writes without the change. */
export function changes(view) {
  const node = el("p", "note");
  const show = ({ result: { plain } }) => {
    const { store } = view;
    node.hidden = !changed(store);
    if (node.hidden) return;
    const off = store.get("off").map(([part, layer, head]) => `${SHORT[part]} layer ${layer} head ${head}`);
    const all = 3 * store.get("sizes").layers * store.get("sizes").heads;
    const which = off.length > MOST_NAMED ? `${off.length} of ${all} heads` : listed(off);
    const told = [off.length && `Off: ${which}.`, changedBy(store.get("temperature"))].filter(Boolean).join(" ");
    const text = view.reader.text(plain.map(({ word }) => word).filter((id) => id !== EOS));
    setText(node, `${told} Unchanged, the model writes: “${text}”.`);
  };
  return { node, show };
}

const changedBy = (temperature) => (temperature === 1 ? "" : `All scores are divided by ${written(temperature)}.`);

/** The words that are shown, as buttons that pin their row, and the text that they make. */
export function words(view) {
  const text = el("p", "written");
  const list = el("ol", "words");
  let items = [];
  const item = (place) => {
    const [word, p] = [el("span"), el("small")];
    const press = button(word, () => view.pinWord(place));
    press.append(p);
    return { node: el("li", {}, press), press, word, p };
  };
  const show = ({ names, steps, count, at }) => {
    while (items.length < count) items.push(item(items.length));
    items = items.slice(0, count);
    if (list.childElementCount !== count) list.replaceChildren(...nodes(items));
    items.forEach((one, place) => {
      setText(one.word, visible(names[place]));
      setText(one.p, fixed(steps[place].p, 2));
      pressed(one.press, place === at);
      mark(one.node, "inside", view.reader.inside(names, place));
    });
    const ids = steps.slice(0, count).map(({ word }) => word);
    setText(text, view.reader.text(ids.filter((id) => id !== EOS)) || "…");
  };
  return { node: el("div", {}, text, list), show };
}

/** The present word and those that it beat, as bars. */
export function rivals(view) {
  const title = el("p");
  const rest = note();
  const lines = Array.from({ length: RIVALS }, () => {
    const [word, value, fill] = [el("span", "token"), el("span", "value"), bar()];
    return { node: el("li", {}, word, fill.node, value), word, value, fill };
  });
  const node = el("div", "side", title, el("ol", {}, nodes(lines)), rest);
  const show = ({ names, steps, at }) => {
    node.hidden = at < 0;
    if (node.hidden) return;
    const { top } = steps[at].step;
    title.replaceChildren(`${capital(view.unit)} ${at + 1}, after `, el("b", {}, names[at - 1] ?? "<bos>"));
    lines.forEach((line, place) => {
      line.node.hidden = place >= top.length;
      if (line.node.hidden) return;
      const [id, p] = top[place];
      setText(line.word, visible(view.reader.target[id]));
      setText(line.value, fixed(p));
      line.fill.show(p);
    });
    const left = 1 - top.reduce((sum, [, p]) => sum + p, 0);
    setText(rest, `All other ${view.unit}s together: ${fixed(Math.max(0, left))}.`);
  };
  return { node, show };
}

/** The hypotheses of a beam, once the whole translation is shown. */
export function ranking(view) {
  const node = el("div");
  let drawn = null;
  const show = ({ count, result }) => {
    node.hidden = result.beam < 2 || count < result.steps.length;
    if (node.hidden || drawn === result) return;
    drawn = result;
    const rows = result.ranking.map((one) => {
      const ids = path(one).map(({ word }) => word);
      const ended = ids[ids.length - 1] === EOS;
      const text = view.reader.text(ids.slice(0, ended ? -1 : undefined));
      return [text + (ended ? "" : " (unfinished)"), fixed(one.logP), String(one.n), fixed(one.score)];
    });
    node.replaceChildren(
      note(
        `The best ${rows.length} found with beam ${result.beam}: score = log p / n^α, α = ${
          result.penalty
        }, n ${view.unit}s with ${visible(view.reader.target[EOS])}.`,
      ),
      scroller("The hypotheses, best first", table(["hypothesis", "log p", "n", "score"], rows)),
    );
  };
  return { node, show };
}

const most = ({ keyTokens, head: { weights, nK } }, i, name = visible) =>
  heaviest(keyTokens, rowAt(weights, i, nK), undefined, name);

/** One cell: "chat → cat 0.912". */
export function describe({ tokens, keyTokens, may, head: { weights, nK } }, { i, j }) {
  const what = `${visible(tokens[i])} → ${visible(keyTokens[j])}`;
  return may[i * nK + j] ? `${what} ${fixed(weights[i * nK + j])}` : `${what}: masked`;
}

/** What one row does, and where it looks. */
export function describeRow(view, i) {
  const { part, names, steps } = view.now;
  const writes = () => `${quoted(names[i])} (p ${fixed(steps[i].p)})`;
  const what = {
    cross: () => `To write ${writes()}, the decoder`,
    encoder: () => `${quoted(view.tokens[i])} in the source`,
    decoder: () => `Having read ${quoted(view.tokens[i])}, to write ${writes()}, the decoder`,
  };
  return `${what[part]()} looks most at ${most(view, i, quoted)}.`;
}

/** The translation, as far as it is shown. */
export function summary({ unit, now: { count, steps, result } }) {
  if (count < steps.length) return `Press “next ${unit}”: the decoder writes one ${unit} at a time.`;
  const end = steps[count - 1].word === EOS ? ", the end counted" : ", cut off";
  return `${count} ${unit}s${end}: log p = ${fixed(result.ranking[0].logP)}. Press a ${unit} or a row to pin it.`;
}

/** The weights that are drawn, as the texts of a table. */
function cells(view) {
  const { weights, nK } = view.head;
  const head = view.now.part === "cross" ? view.unit : "query";
  if (view.tokens.length * nK > MOST_CELLS) {
    return [[head, "looks most at"], ...view.tokens.map((token, i) => [visible(token), most(view, i)])];
  }
  return [
    [head, ...view.keyTokens.map(visible)],
    ...view.tokens.map((token, i) => [
      visible(token),
      ...Array.from(rowAt(weights, i, nK), (weight, j) => (view.may[i * nK + j] ? fixed(weight) : "masked")),
    ]),
  ];
}

function chances({ unit, reader, now: { names, steps, count } }) {
  return [
    [unit, "probability", "next best"],
    ...steps.slice(0, count).map((one, place) => [
      visible(names[place]),
      fixed(one.p),
      one.step.top
        .filter(([id]) => id !== one.word)
        .slice(0, 3)
        .map(([id, p]) => `${visible(reader.target[id])} ${fixed(p)}`)
        .join(", "),
    ]),
  ];
}

/** Both tables, folded up. */
export function tables(view) {
  const all = [
    twin("The weights of the picture", () => cells(view), "The picture as a table"),
    twin(`Each ${view.unit}’s probability`, () => chances(view), `The ${view.unit}s’ probabilities as a table`),
  ];
  return together(el("div", "foot", nodes(all)), all);
}
