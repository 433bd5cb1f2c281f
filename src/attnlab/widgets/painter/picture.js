// The painter's two drawings: the mask, and beside it what follows from it with each row's sum.

import { cross, drawPicture, eachCell, layout, write } from "../core/view/picture.js";
import { fixed } from "../core/view/text.js";
import { readable, shade } from "../core/view/theme.js";

const SUM = 56; // the width of the column of sums
const GAP = 40; // between the two drawings, as in the style sheet
const SMALL = 30; // cells smaller than this, without numbers, do not stand side by side
const STACKED = { cell: 30, grid: 360 }; // one above the other, neither fills a screen
const STEEPEST = 0.25; // α (1 − α) is never more

/** Sizes for both drawings, which have the same cells; side by side where there is room. */
export function placed({ width, tokens, keyTokens, measure }) {
  const fit = (wide) => layout({ width: wide - SUM, tokens, keyTokens, measure });
  const beside = fit((width - GAP) / 2);
  if (beside.cell >= SMALL) return beside;
  const grid = Math.max(STACKED.grid, STACKED.cell * keyTokens.length);
  return fit(Math.min(width, SUM + beside.left + 2 + grid));
}

/** The size of the second drawing, which has the sums. */
export const withSums = (at) => ({ ...at, width: at.width + SUM });

/** The mask: 1 in a cell that may, a cross in one that may not. */
export function drawMask(pen, at, what, palette, measure) {
  drawCells(pen, at, what, palette, measure, (place, x, y) => {
    const may = what.may[place];
    const colour = may ? palette.half : palette.masked;
    pen.rect(x, y, at.cell, at.cell, colour);
    if (may) write(pen, "1", x, y, at, readable(colour));
    else cross(pen, x + at.cell / 2, y + at.cell / 2, at.cell * 0.15, palette.muted);
  });
}

/** Weights or gradient. What is masked and has nothing is crossed out, small where it has. */
export function drawValues(pen, at, what, palette, measure) {
  drawCells(pen, withSums(at), what, palette, measure, (place, x, y) => {
    const value = what.values[place];
    const out = !what.may[place];
    const bare = Number.isNaN(value) || (out && value === 0);
    const share = what.steep ? value / STEEPEST : value;
    const colour = bare ? palette.masked : shade(share, palette);
    pen.rect(x, y, at.cell, at.cell, colour);
    const ink = readable(colour);
    if (out && value === 0) {
      cross(pen, x + at.cell / 2, y + at.cell / 2, at.cell * 0.1, palette.muted);
      return;
    }
    if (at.numbers) write(pen, fixed(value, at.decimals), x, y, at, ink);
    if (out) cross(pen, x + at.cell - 7, y + 7, 3, ink);
  });
  drawSums(pen, at, what, palette);
}

function drawCells(pen, at, what, palette, measure, draw) {
  const fill = () => eachCell(what, at, draw);
  drawPicture(pen, at, { ...what, may: null, head: what, fill }, palette, measure);
}

function drawSums(pen, { cell, left, top }, { nK, sums }, palette) {
  const x = left + cell * nK + SUM - 6;
  pen.text("sum", x, top - 12, { size: 12, colour: palette.muted, align: "right" });
  sums.forEach((sum, i) =>
    pen.text(fixed(sum), x, top + (i + 0.5) * cell, { size: Math.min(14, cell), colour: palette.ink, align: "right" }),
  );
}
