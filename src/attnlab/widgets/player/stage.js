// The player's two pictures: the current word with its lines to the source, and the matrix.

import { button, el, mark, svg } from "../core/view/dom.js";
import { eachCell, write } from "../core/view/picture.js";
import { drawLarge } from "../core/view/plot.js";
import { stepKeys } from "../core/view/stepper.js";
import { fixed } from "../core/view/text.js";
import { readable, shade } from "../core/view/theme.js";

const FAINT = 0.01; // a weight below it has no line
const THICK = 12; // pixels of a line of weight 1
const GAP = 40; // between the pictures, as in the style sheet
const PALE = 0.25; // of its colour has a word that is still to come
const NARROW = 260; // a matrix with less room goes below

/** Source words with the weights of the current word, its lines, and the translation. */
export function stage(view) {
  const lines = svg("svg", { class: "lines", "aria-hidden": "true", preserveAspectRatio: "none" });
  const left = el("ol", { "aria-label": "source, with the current word's weights" });
  const right = el("ol", {
    "aria-label": "translation; arrow keys move",
    onkeydown: stepKeys((change) => view.go(view.word + change), true),
  });
  let drawn = null;
  const show = () => {
    const { now, word } = view;
    if (drawn !== now)
      right.replaceChildren(
        ...now.target.map((token, t) =>
          el(
            "li",
            {},
            button(token, () => view.go(t), { class: "token" }),
          ),
        ),
      );
    drawn = now;
    const drawing = now.source.map((token, s) => sourceWord(now, word, token, s));
    left.replaceChildren(...drawing.map(({ item }) => item));
    lines.replaceChildren(...drawing.flatMap((one) => one.lines));
    lines.setAttribute("viewBox", `0 0 1 ${Math.max(now.nS, now.nT)}`);
    Array.from(right.children, ({ firstChild: node }, t) => {
      mark(node, "later", t > word);
      node.tabIndex = t === word ? 0 : -1; // one stop for the tab key: the arrows do the rest
      node.setAttribute("aria-current", t === word ? "step" : "false");
    });
    if (right.contains(document.activeElement)) right.children[word].firstChild.focus();
  };
  return { node: el("div", "stage", left, lines, right), show };
}

/** A word of the source, as an item of the list and as lines to the current word. */
function sourceWord(now, word, token, s) {
  const at = word * now.nS + s;
  const weight = now.weights[at];
  const gold = now.gold?.includes(at) ? "gold" : "";
  const line = (props) => svg("line", { x1: 0, y1: s + 0.5, x2: 1, y2: word + 0.5, ...props });
  const lines = [];
  if (weight >= FAINT) lines.push(line({ "stroke-width": Math.max(1, THICK * weight) }));
  if (gold) lines.push(line({ class: gold }));
  const item = el(
    "li",
    { class: gold, style: `--w:${weight}` },
    el("span", "token", token),
    el("span", {}, fixed(weight) + (now.links.includes(at) ? " ✓" : "")),
  );
  return { item, lines };
}

/** The matrix: shades and numbers, gold framed, predicted links dotted; pale what is to come. */
export function drawMatrix(view, width) {
  const { now, word } = view;
  const beside = width - view.stage.node.offsetWidth - GAP;
  drawLarge(view, beside < NARROW ? width : beside, {
    head: { nQ: now.nT, nK: now.nS },
    tokens: now.target,
    keyTokens: now.source,
    pinned: word,
    axes: ["source →", "word ↓"],
    between: view.palette.line,
    fill: (pen, at, palette) =>
      eachCell({ nQ: now.nT, nK: now.nS }, at, (place, x, y) => {
        if (place < (word + 1) * now.nS) return cell(pen, at, now, { place, x, y }, palette);
        pen.rect(x, y, at.cell, at.cell, pale(shade(now.weights[place], palette), palette));
      }),
  });
}

/** A share of a colour, the rest the page's. */
const pale = (colour, { paper }) => colour.map((part, k) => Math.round(paper[k] + (part - paper[k]) * PALE));

function cell(pen, at, now, { place, x, y }, palette) {
  const { cell: size, numbers, decimals } = at;
  const colour = shade(now.weights[place], palette);
  const ink = readable(colour);
  pen.rect(x, y, size, size, colour);
  if (numbers) write(pen, fixed(now.weights[place], decimals), x, y, at, ink);
  if (now.gold?.includes(place)) pen.frame(x + 2, y + 2, size - 4, size - 4, ink, 1);
  if (now.links.includes(place)) pen.rect(x + size * 0.85 - 3, y + 3, size * 0.15, size * 0.15, ink);
}
