// The heat map as a drawing: where everything goes, and then drawing it with any pen.

import { fixed, shorten, visible } from "./text.js";
import { readable, shade } from "./theme.js";

const CELL = { most: 56, mostOfMany: 46, least: 4, forNumbers: 30, forThree: 42, forLines: 10 };
const LABEL = { size: 14, most: 120, line: 15 };
const AXIS = { size: 12, height: 20 };

/** Sizes for a picture at most `width` wide; measure gives a label's width in pixels. */
export function layout({ width, tokens, keyTokens, measure }) {
  const widest = (texts) => Math.ceil(Math.max(...texts.map((text) => measure(visible(text)))));
  const room = Math.min(LABEL.most, Math.floor(width * 0.28));
  const left = Math.max(Math.min(widest(tokens), room), 48) + 10;
  const fit = Math.floor((width - left - 2) / keyTokens.length);
  const most = keyTokens.length > 6 ? CELL.mostOfMany : CELL.most;
  const cell = Math.max(CELL.least, Math.min(most, fit));
  const columns = widest(keyTokens);
  const upright = columns + 8 > cell;
  const labels = upright ? Math.min(columns, LABEL.most) + 10 : LABEL.size + 10;
  const top = AXIS.height + labels;
  return {
    cell, left, top, upright, room: left - 10, columnRoom: labels - 10,
    every: Math.ceil(LABEL.line / cell), // labels closer than a line would overlap
    numbers: cell >= CELL.forNumbers && keyTokens.length <= 12,
    decimals: cell >= CELL.forThree ? 3 : 2,
    width: left + cell * keyTokens.length + 2,
    height: top + cell * tokens.length + 2,
  };
}

/**
 * Draw one head; what is {head, may, tokens, keyTokens, pinned, cursor}. A function `fill` in it
 * draws the inside of the cells instead of the shades and numbers of their weights.
 */
export function drawPicture(pen, at, what, palette, measure) {
  const { head } = what;
  // one more than needed: on a dense screen the last pixel may be a fraction
  pen.rect(0, 0, at.width + 1, at.height + 1, palette.paper);
  if (what.fill) what.fill(pen, at, palette);
  else pen.matrix(head, at.left, at.top, at.cell * head.nK, at.cell * head.nQ);
  if (at.cell >= CELL.forLines) drawLines(pen, at, what, palette);
  if (at.numbers && !what.fill) drawNumbers(pen, at, what, palette);
  drawLabels(pen, at, what, palette, measure);
  const box = [at.left, at.top, at.cell * head.nK, at.cell * head.nQ];
  pen.frame(box[0] - 0.5, box[1] - 0.5, box[2] + 1, box[3] + 1, palette.line, 1);
  drawMarks(pen, at, what, palette);
}

function drawLines(pen, { cell, left, top }, { head, may, fill }, { paper, line, muted }) {
  const between = fill ? line : paper; // a line of the page's colour parts only what is shaded
  const [right, bottom] = [left + cell * head.nK, top + cell * head.nQ];
  for (let j = 1; j < head.nK; j++) pen.line(left + j * cell, top, left + j * cell, bottom, between);
  for (let i = 1; i < head.nQ; i++) pen.line(left, top + i * cell, right, top + i * cell, between);
  // a masked cell is crossed out: its meaning must not hang on a colour
  for (let at = 0; at < may.length; at++) {
    if (may[at]) continue;
    const [x, y] = [left + (at % head.nK) * cell, top + Math.floor(at / head.nK) * cell];
    const [near, far] = [cell * 0.4, cell * 0.6];
    pen.line(x + near, y + near, x + far, y + far, muted);
    pen.line(x + far, y + near, x + near, y + far, muted);
  }
}

function drawNumbers(pen, { cell, left, top, decimals }, { head, may }, palette) {
  const size = Math.min(14, Math.floor(cell / (decimals * 0.55 + 1.1)));
  head.weights.forEach((weight, at) => {
    if (!may[at]) return;
    const colour = readable(shade(weight, palette));
    const [x, y] = [at % head.nK, Math.floor(at / head.nK)];
    pen.text(fixed(weight, decimals), left + (x + 0.5) * cell, top + (y + 0.5) * cell,
      { size, colour, align: "center" });
  });
}

export function drawLabels(pen, at, { tokens, keyTokens, pinned }, palette, measure) {
  const { cell, left, top, upright, every } = at;
  const short = (token, room) => shorten(visible(token), room, measure);
  const ink = { size: LABEL.size, colour: palette.ink };
  tokens.forEach((token, i) => {
    if (i % every && i !== pinned) return;
    pen.text(short(token, at.room), left - 8, top + (i + 0.5) * cell, { ...ink, align: "right" });
  });
  keyTokens.forEach((token, j) => {
    if (j % every) return;
    const x = left + (j + 0.5) * cell;
    if (upright) pen.text(short(token, at.columnRoom), x, top - 7, { ...ink, upright });
    else pen.text(short(token, cell), x, top - 12, { ...ink, align: "center" });
  });
  const muted = { size: AXIS.size, colour: palette.muted };
  pen.text("attends to →", left, AXIS.height / 2, muted);
  pen.text("query ↓", left - 8, top - 12, { ...muted, align: "right" });
}

export function drawMarks(pen, { cell, left, top }, { head, pinned, cursor, focused }, palette) {
  if (pinned !== null) {
    pen.frame(left, top + pinned * cell, cell * head.nK, cell, palette.accent, 2);
  }
  if (cursor) {
    const [x, y] = [left + cursor.j * cell, top + cursor.i * cell];
    if (focused) pen.frame(x + 2, y + 2, cell - 4, cell - 4, palette.paper, 2);
    pen.frame(x, y, cell, cell, palette.ink, focused ? 2.5 : 1.5);
  }
}

/** The cell under a point of the picture, or null; a row's label counts as its first cell. */
export function cellAt({ cell, left, top }, nQ, nK, x, y) {
  const i = Math.floor((y - top) / cell);
  const j = Math.max(0, Math.floor((x - left) / cell));
  return i >= 0 && i < nQ && j < nK ? { i, j } : null;
}

/** A function that says how wide a label would be. */
export const measureWith = (context, family) => (text) => {
  context.font = `${LABEL.size}px ${family}`;
  return context.measureText(text).width;
};

/** Give a canvas the picture's size, with `dense` pixels of its own to each of the page's. */
export function sizeCanvas(canvas, { width, height }, dense) {
  const [wide, high] = [Math.round(width * dense), Math.round(height * dense)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}
