// The reader's text, and under each symbol what the model guessed it would be.

import { el, mark, scroller, setText } from "../../core/view/dom.js";
import { visible } from "../../core/view/text.js";
import { guessed } from "./words.js";

const MARKS = { true: "✓", false: "×" };

export function strip() {
  const place = scroller("The text, and what the model guessed of each symbol");
  let cells = [];
  const make = (n) => {
    const row = (name) => {
      const found = Array.from({ length: n + 1 }, () => el("td"));
      return { found, node: el("tr", {}, el("th", { scope: "row" }, name), found) };
    };
    const rows = [row("text"), row("guess")];
    cells = rows.map(({ found }) => found);
    place.replaceChildren(
      el(
        "table",
        "strip",
        el(
          "tbody",
          {},
          rows.map(({ node }) => node),
        ),
      ),
    );
  };
  const show = ({ tokens, ids, guesses, symbols }) => {
    const n = tokens.length;
    if (cells[0]?.length !== n + 1) make(n);
    const found = guessed(tokens, ids, guesses, symbols);
    for (let i = 0; i <= n; i++) {
      const guess = found[i - 1];
      setText(cells[0][i], i < n ? visible(tokens[i]) : "…");
      setText(cells[1][i], guess ? `${guess.name}${MARKS[String(guess.right)] ?? ""}` : "");
      mark(cells[1][i], "right", guess?.right === true);
      mark(cells[1][i], "off", guess?.right === false);
    }
  };
  return { node: place, show };
}
