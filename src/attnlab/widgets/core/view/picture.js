// The heat map as a drawing: where everything goes, and then drawing it with any pen.

import { fixed, shorten, visible } from "./text.js";
import { readable, shade } from "./theme.js";

/** @import { Cell, Colour, Layout, Pen } from "../types.d.ts" */

const CELL = { most: 56, mostOfMany: 46, least: 4, forNumbers: 30, forThree: 42, forLines: 10 };
const LABEL = { size: 14, least: 10, most: 120 };
const BLANK = 0.005; // as in the book's other figures, a smaller weight has no number
const AXIS = { size: 12, height: 20 };

/**
 * Sizes for a picture at most `width` wide; measure gives a label's width in pixels.
 * @type {(given: {width: number, tokens: string[], keyTokens: string[], measure: (text: string) => number}) => Layout}
 */
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
  const label = Math.max(LABEL.least, Math.min(LABEL.size, cell - 1));
  return {
    cell,
    label,
    left,
    top,
    upright,
    room: left - 10,
    columnRoom: labels - 10,
    every: Math.ceil((label + 1) / cell), // labels closer than a line would overlap
    numbers: cell >= CELL.forNumbers && keyTokens.length <= 12,
    decimals: cell >= CELL.forThree ? 3 : 2,
    width: left + cell * keyTokens.length + 2,
    height: top + cell * tokens.length + 2,
  };
}

/**
 * Draw one head; what is {head, may, tokens, keyTokens, pinned, cursor}. A function `fill` in it
 * draws the inside of the cells instead of the shades and numbers of their weights.
 * @param {Pen} pen
 * @param {Layout} at
 * @param {any} what
 * @param {any} palette a colour by each name in theme.js
 * @param {(text: string) => number} measure
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

/**
 * Call draw(place, x, y) for each cell, with its upper left corner.
 * @type {(size: {nQ: number, nK: number}, at: Layout, draw: (place: number, x: number, y: number) => void) => void}
 */
export function eachCell({ nQ, nK }, { cell, left, top }, draw) {
  for (let place = 0; place < nQ * nK; place++) {
    draw(place, left + (place % nK) * cell, top + Math.floor(place / nK) * cell);
  }
}

/** @type {(pen: Pen, x: number, y: number, reach: number, colour: Colour) => void} */
export function cross(pen, x, y, reach, colour) {
  pen.line(x - reach, y - reach, x + reach, y + reach, colour);
  pen.line(x + reach, y - reach, x - reach, y + reach, colour);
}

function drawLines(pen, at, { head, may, between }, { paper, muted }) {
  const { cell, left, top } = at;
  const [right, bottom] = [left + cell * head.nK, top + cell * head.nQ];
  const line = (...ends) => pen.line(...ends, between ?? paper);
  for (let j = 1; j < head.nK; j++) line(left + j * cell, top, left + j * cell, bottom);
  for (let i = 1; i < head.nQ; i++) line(left, top + i * cell, right, top + i * cell);
  // a masked cell is crossed out: its meaning must not hang on a colour
  if (may)
    eachCell(head, at, (place, x, y) => {
      if (!may[place]) cross(pen, x + cell / 2, y + cell / 2, cell * 0.1, muted);
    });
}

function drawNumbers(pen, at, { head, may }, palette) {
  const { cell, decimals } = at;
  const size = Math.min(14, Math.floor(cell / (decimals * 0.55 + 1.1)));
  eachCell(head, at, (place, x, y) => {
    if (!may[place] || head.weights[place] < BLANK) return;
    const colour = readable(shade(head.weights[place], palette));
    pen.text(fixed(head.weights[place], decimals), x + cell / 2, y + cell / 2, { size, colour, align: "center" });
  });
}

function drawLabels(pen, at, what, palette, measure) {
  const { tokens, keyTokens, pinned, axes = ["attends to →", "query ↓"] } = what;
  const { cell, left, top, upright, every } = at;
  const short = (token, room) => shorten(visible(token), room, measure);
  const ink = { size: at.label, colour: palette.ink };
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
  pen.text(axes[0], left, AXIS.height / 2, muted);
  pen.text(axes[1], left - 8, top - 12, { ...muted, align: "right" });
}

function drawMarks(pen, { cell, left, top }, { head, pinned, cursor, focused }, palette) {
  if (pinned !== null) {
    pen.frame(left, top + pinned * cell, cell * head.nK, cell, palette.accent, 2);
  }
  if (cursor) {
    const [x, y] = [left + cursor.j * cell, top + cursor.i * cell];
    if (focused) pen.frame(x + 2, y + 2, cell - 4, cell - 4, palette.paper, 2);
    pen.frame(x, y, cell, cell, palette.ink, focused ? 2.5 : 1.5);
  }
}

/**
 * The cell under a point of the picture, or null; a row's label counts as its first cell.
 * @type {(at: Layout, nQ: number, nK: number, x: number, y: number) => Cell|null}
 */
export function cellAt({ cell, left, top }, nQ, nK, x, y) {
  const i = Math.floor((y - top) / cell);
  const j = Math.max(0, Math.floor((x - left) / cell));
  return i >= 0 && i < nQ && j < nK ? { i, j } : null;
}

/**
 * A function that says how wide a label would be.
 * @type {(context: CanvasRenderingContext2D, family: string) => (text: string) => number}
 */
export const measureWith = (context, family) => (text) => {
  context.font = `${LABEL.size}px ${family}`;
  return context.measureText(text).width;
};

/**
 * Give a canvas the picture's size, with `dense` pixels of its own to each of the page's.
 * @type {(canvas: HTMLCanvasElement, size: {width: number, height: number}, dense: number) => void}
 */
export function sizeCanvas(canvas, { width, height }, dense) {
  const [wide, high] = [Math.round(width * dense), Math.round(height * dense)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

/** @type {(pen: Pen, text: string, x: number, y: number, at: {cell: number}, colour: Colour) => void} */
export function write(pen, text, x, y, { cell }, colour) {
  const size = Math.min(14, Math.floor(cell / (text.length * 0.55 + 0.55)));
  if (size < 7) return;
  pen.text(text, x + cell / 2, y + cell / 2, { size, colour, align: "center" });
}
