// The reader's text, and under each symbol what the model guessed it would be. A list, whose lines
// break where a screen ends: on a phone the ticks stand under the first symbols.

import { el, mark, setText } from "../../core/view/dom.js";
import { visible } from "../../core/view/text.js";
import { guessed } from "./words.js";

const MARKS = { true: "✓", false: "×" };

export function strip() {
  const node = el("ol", { class: "strip", "aria-label": "The text, and what the model guessed of each symbol" });
  let pairs = [];
  const make = (n) => {
    pairs = Array.from({ length: n + 1 }, () => [el("span"), el("span")]);
    const names = [el("span", {}, "text"), el("span", {}, "guess")];
    node.replaceChildren(...[names, ...pairs].map((pair) => el("li", {}, pair)));
  };
  const show = ({ tokens, ids, guesses, symbols }) => {
    const n = tokens.length;
    if (pairs.length !== n + 1) make(n);
    const found = guessed(tokens, ids, guesses, symbols);
    pairs.forEach(([symbol, below], i) => {
      const guess = found[i - 1];
      setText(symbol, i < n ? visible(tokens[i]) : "…");
      setText(below, guess ? `${guess.name}${MARKS[String(guess.right)] ?? ""}` : "");
      mark(below, "right", guess?.right === true);
      mark(below, "off", guess?.right === false);
    });
  };
  return { node, show };
}
