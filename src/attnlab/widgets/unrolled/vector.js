// s₀ itself, between the readers and the decoder: a coloured cell for each of its numbers, as many
// as the model has, whatever the length of the sentence.

import { times } from "../core/maths/lists.js";
import { el, mark, setText, setVar } from "../core/view/dom.js";
import { fixed } from "../core/view/text.js";

const DECIMALS = 2;

export function summary(view, d) {
  const here = () => view.go(view.now.n);
  const cells = times(d, () => el("span"));
  const row = el("div", { class: "vector", role: "img", onclick: here }, cells);
  setVar(row, "n", d);
  const words = el("span");
  const numbers = el("p");
  const fold = el("details", {}, el("summary", {}, "its numbers"), numbers);
  const node = el("div", "sum", el("span", { onclick: here }, "s₀"), row, el("div", "told", words, fold));
  const show = ({ step, n, states: [s0] }) => {
    const there = step >= n;
    cells.forEach((one, i) => colour(one, i, there ? s0[i] : null));
    mark(row, "at", step === n);
    row.setAttribute("aria-label", `s₀: ${d} numbers${there ? "" : ", not yet there"}`);
    setText(words, there ? `${counted(n)}, in ${d} numbers` : `${d} numbers, made when all is read`);
    fold.hidden = !there;
    setText(numbers, there ? Array.from(s0, (value) => fixed(value, DECIMALS)).join(", ") : "");
  };
  return { node, show };
}

const counted = (n) => (n === 1 ? "the one word" : `all ${n} words`);

/** The sign is the hue, the size how much of it; without a value the cell is empty. */
function colour(cell, i, value) {
  mark(cell, "minus", value < 0);
  setVar(cell, "w", value === null ? 0 : Math.abs(value).toFixed(3));
  cell.title = value === null ? "" : `number ${i + 1}: ${fixed(value)}`;
}
