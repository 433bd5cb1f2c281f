// The table of positions as a drawing that takes pointer and keys: a row for each position, a
// column for each component, one colour for what is above 0 and another for what is below.

import { within } from "../core/maths/lists.js";
import { el, onKeys } from "../core/view/dom.js";
import { makeHead } from "../core/view/frame.js";
import { write } from "../core/view/picture.js";
import { KEYS, onCanvas, point } from "../core/view/plot.js";
import { fixed } from "../core/view/text.js";
import { ramp, readable, shade } from "../core/view/theme.js";

const [LEFT, TOP] = [44, 40];
const WIDE = 46; // a cell at most
const HIGH = [3, 22]; // a cell at least and at most
const ALL = 128; // the height of all cells, where they need no more
const NUMBERS = { wide: 34, high: 16 }; // the smallest cell with a number in it
const LABEL = { wide: 26, high: 15 }; // labels that are closer would overlap

function layout(width, { n, d }) {
  const wide = Math.min(WIDE, (width - LEFT - 2) / d);
  const high = Math.max(HIGH[0], Math.min(HIGH[1], ALL / n));
  return { wide, high, width: LEFT + wide * d + 2, height: TOP + high * n + 2 };
}

/** The same palette for numbers below 0. */
export function below(palette) {
  const { paper, "head-1": full } = palette;
  return { ...palette, full, half: paper.map((part, c) => Math.round((part + full[c]) / 2)) };
}

export function map(view) {
  const find = ({ clientX, clientY }) => {
    if (!view.at) return null; // nothing is drawn yet
    const { left, top } = view.canvas.getBoundingClientRect();
    const i = Math.floor((clientY - top - TOP) / view.at.high);
    const j = Math.max(0, Math.floor((clientX - left - LEFT) / view.at.wide));
    return i >= 0 && i < view.now.n && j < view.now.d ? { i, j } : null;
  };
  const choose = (cell) => view.store.set({ position: cell.i, pair: Math.floor(cell.j / 2) });
  view.plot = el(
    "div",
    {
      class: "plot",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "heat map",
      "aria-label":
        "Positions and their components. Arrow keys move from cell to cell, Home and " +
        "End go to the ends of a row, Enter chooses the cell’s position and pair.",
      onpointermove: (event) => event.pointerType !== "touch" && point(view, find(event)),
      onpointerleave: () => point(view, null),
      onclick(event) {
        const cell = find(event);
        if (cell) choose(cell);
        point(view, cell);
      },
      onkeydown: onKeys(({ key }) => press(view, key, choose)),
      onfocus: view.redraw,
      onblur: () => point(view, null),
    },
    view.canvas,
  );
  return { node: view.plot, show: () => draw(view) };
}

function press(view, key, choose) {
  const { n, d, p, pair } = view.now;
  const here = view.cursor ?? { i: p, j: 2 * pair };
  if (KEYS[key]) {
    const { i, j } = view.cursor ? KEYS[key](here) : here;
    point(view, { i: within(i, n - 1), j: within(j, d - 1) });
  } else if (key === "Enter" || key === " ") choose(here);
  else return false;
  return true;
}

function draw(view) {
  const { now, palette, canvas, family } = view;
  view.at = layout(view.width, now);
  if (view.coloured !== palette) view.minus = ramp(below(palette));
  view.coloured = palette;
  if (view.head?.nQ !== now.n || view.head.nK !== now.d) view.head = makeHead(null, now.n, now.d);
  const { head, ramp: plus, minus } = view;
  now.rows.forEach((row, i) =>
    row.forEach((x, j) => {
      head.pixels[i * now.d + j] = x < 0 ? minus[Math.round(-255 * x)] : plus[Math.round(255 * x)];
    }),
  );
  head.context.putImageData(head.image, 0, 0);
  onCanvas(canvas, view.at, family, (pen) => {
    pen.rect(0, 0, view.at.width + 1, view.at.height + 1, palette.paper);
    pen.matrix(head, LEFT, TOP, view.at.wide * now.d, view.at.high * now.n);
    numbers(pen, view);
    labels(pen, view);
    marks(pen, view);
  });
}

function numbers(pen, { now, at, palette }) {
  if (at.wide < NUMBERS.wide || at.high < NUMBERS.high) return;
  now.rows.forEach((row, i) =>
    row.forEach((x, j) => {
      const colour = readable(shade(Math.abs(x), x < 0 ? below(palette) : palette));
      write(
        pen,
        fixed(x, 2),
        LEFT + j * at.wide,
        TOP + i * at.high + (at.high - at.wide) / 2,
        { cell: at.wide },
        colour,
      );
    }),
  );
}

/** Numbers along both sides; those of the two positions stand out, and push others away. */
function labels(pen, { now, at, palette }) {
  const { n, d, p, later } = now;
  const { ink, muted, accent } = palette;
  const every = Math.ceil(LABEL.high / at.high);
  const put = (i, colour) =>
    pen.text(String(i), LEFT - 8, TOP + (i + 0.5) * at.high, { size: 13, colour, align: "right" });
  const chosen = later < n && Math.abs(later - p) >= every ? [p, later] : [p];
  for (let i = 0; i < n; i += every) {
    if (chosen.every((one) => Math.abs(one - i) >= every)) put(i, muted);
  }
  chosen.forEach((i) => put(i, i === p ? accent : ink));
  const step = 2 * Math.ceil(LABEL.wide / at.wide / 2);
  for (let j = 0; j < d; j += at.wide < LABEL.wide ? step : 1) {
    pen.text(String(j), LEFT + (j + 0.5) * at.wide, TOP - 10, { size: 13, colour: muted, align: "center" });
  }
  pen.text("component →", LEFT, 10, { size: 12, colour: muted });
  pen.text("pos ↓", LEFT - 8, 10, { size: 12, colour: muted, align: "right" });
}

/** The two positions, the chosen pair's columns, and the cell under pointer or keyboard. */
function marks(pen, { now, at, palette, cursor, plot }) {
  const { n, d, p, later, pair } = now;
  const { wide, high } = at;
  const [width, height] = [wide * d, high * n];
  pen.frame(LEFT - 0.5, TOP - 0.5, width + 1, height + 1, palette.line, 1);
  pen.frame(LEFT + 2 * pair * wide, TOP - 1, 2 * wide, height + 2, palette.ink, 1);
  if (later < n) pen.frame(LEFT, TOP + later * high, width, high, palette.ink, 1.5);
  for (const [colour, thick] of [
    [palette.paper, 5],
    [palette.accent, 2.5],
  ]) {
    pen.frame(LEFT - 1, TOP + p * high - 1, width + 2, high + 2, colour, thick);
  }
  if (!cursor) return;
  const [x, y] = [LEFT + cursor.j * wide, TOP + cursor.i * high];
  const focused = document.activeElement === plot;
  pen.frame(x - 1, y - 1, wide + 2, high + 2, palette.paper, 2);
  pen.frame(x, y, wide, high, palette.ink, focused ? 2.5 : 1.5);
}
