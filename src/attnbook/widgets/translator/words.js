// The translation as words, each with its probability and its rivals, and the tables of it all.

import { path } from "../core/maths/beam.js";
import { rowAt } from "../core/maths/nn.js";
import { bar, button, el, nodes, note, pressed, scroller, setText, table, together, twin } from "../core/view/dom.js";
import { fixed, heaviest, quoted, visible } from "../core/view/text.js";
import { joined } from "./text.js";

const EOS = 2;
const RIVALS = 5;
const MOST_CELLS = 160; // of a larger map the table names the largest weights alone

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
    });
    const sentence = names.filter((_, place) => place < count && steps[place].word !== EOS);
    setText(text, joined(sentence) || "…");
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
    title.replaceChildren(`Word ${at + 1}, after `, el("b", {}, names[at - 1] ?? "<bos>"));
    lines.forEach((line, place) => {
      line.node.hidden = place >= top.length;
      if (line.node.hidden) return;
      const [id, p] = top[place];
      setText(line.word, visible(view.target[id]));
      setText(line.value, fixed(p));
      line.fill.show(p);
    });
    const left = 1 - top.reduce((sum, [, p]) => sum + p, 0);
    setText(rest, `All other words together: ${fixed(Math.max(0, left))}.`);
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
      const text = joined(ids.slice(0, ended ? -1 : undefined).map((id) => view.target[id]));
      return [text + (ended ? "" : " (unfinished)"), fixed(one.logP), String(one.n), fixed(one.score)];
    });
    node.replaceChildren(
      note(
        `The best ${rows.length} found with beam ${result.beam}: score = log p / n^α, α = ${
          result.penalty
        }, n words with ${visible(view.target[EOS])}.`,
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
export function summary({
  now: {
    count,
    steps,
    result: {
      ranking: [best],
    },
  },
}) {
  if (count < steps.length) return "Press “next word”: the decoder writes one word at a time.";
  const end = steps[count - 1].word === EOS ? ", the end counted" : ", cut off";
  return `${count} words${end}: log p = ${fixed(best.logP)}. Press a word or a row to pin it.`;
}

/** The weights that are drawn, as the texts of a table. */
function cells(view) {
  const { weights, nK } = view.head;
  const head = view.now.part === "cross" ? "word" : "query";
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

function chances({ target, now: { names, steps, count } }) {
  return [
    ["word", "probability", "next best"],
    ...steps.slice(0, count).map((one, place) => [
      visible(names[place]),
      fixed(one.p),
      one.step.top
        .filter(([id]) => id !== one.word)
        .slice(0, 3)
        .map(([id, p]) => `${visible(target[id])} ${fixed(p)}`)
        .join(", "),
    ]),
  ];
}

/** Both tables, folded up. */
export function tables(view) {
  const all = [
    twin("The weights of the picture", () => cells(view), "The picture as a table"),
    twin("Each word’s probability", () => chances(view), "The words’ probabilities as a table"),
  ];
  return together(el("div", "foot", nodes(all)), all);
}
