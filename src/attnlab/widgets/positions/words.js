// Sinusoidal positions in words and tables.

import { times } from "../core/maths/lists.js";
import { el, mark, scroller, setText, table } from "../core/view/dom.js";
import { fixed, plain, short } from "../core/view/text.js";
import { alikeAt, speeds } from "./maths.js";

export const FORMULAS = ["divides", "multiplies"];
const NEIGHBOURS = [1, 2, 5, 20];
const COLUMNS = 8;

const sign = ({ formula }) => (formula === "divides" ? "/" : "·");

/** The formula as it is now, with the numbers of d and base in it. */
export function formula() {
  const node = el("p", "letters");
  let drawn = "";
  const show = (now) => {
    const { d, base } = now;
    const inner = () => [` ${sign(now)} ${plain(base)}`, el("sup", {}, `2i/${d}`)];
    const parts = ["PE[pos, 2i] = sin(pos", ...inner(), "),  PE[pos, 2i + 1] = cos(pos", ...inner(), ")"];
    const key = `${sign(now)}${base} ${d}`;
    if (key !== drawn) node.replaceChildren(...parts);
    drawn = key;
  };
  return { node, show };
}

/** The cell or the position pointed at, else the two positions. */
export function said(view) {
  const { now, cursor, near } = view;
  const { d, p, later, omega, pair, base } = now;
  const both = (q, value) =>
    `Position ${p} with position ${q}: cosine ${fixed(value)}, dot product ` + `${fixed((value * d) / 2)}.`;
  const wave = (i) =>
    `Pair ${i} (components ${2 * i} and ${2 * i + 1}) comes round every ` +
    `${short((2 * Math.PI) / omega[i])} positions.`;
  if (cursor && cursor.i < now.n && cursor.j < d) {
    const i = Math.floor(cursor.j / 2);
    const name = cursor.j % 2 ? "cos" : "sin";
    return (
      `Position ${cursor.i}, component ${cursor.j}: ${name}(${cursor.i} ${sign(now)} ` +
      `${plain(base)}^(${2 * i}/${d})) = ${name}(${plain(cursor.i * omega[i])}) = ` +
      `${fixed(now.rows[cursor.i][cursor.j])}. ${wave(i)}`
    );
  }
  if (near !== null && near < now.n) return both(near, now.cosines[near]);
  return `${both(later, alikeAt(now.k, omega))} ${wave(pair)}`;
}

/** Where the two hands stand. */
export const walked = ({ p, k, later }) =>
  `Thin hands: position ${p}. Thick hands: position ${later}, ${k} ${k === 1 ? "step" : "steps"} on.`;

/** The cosine at a few distances, by the right formula and by the wrong one. */
export function neighbours() {
  const cells = FORMULAS.map(() => NEIGHBOURS.map(() => el("span")));
  const names = FORMULAS.map((name) => el("span", {}, name));
  const node = scroller(
    "The cosine at four distances by both formulas",
    table(
      ["cosine at distance", ...NEIGHBOURS],
      cells.map((row, f) => [names[f], ...row]),
    ),
  );
  const show = ({ d, base, formula: now }) =>
    FORMULAS.forEach((name, f) => {
      mark(names[f], "most", name === now);
      const omega = speeds(d, base, name);
      NEIGHBOURS.forEach((distance, c) => setText(cells[f][c], fixed(alikeAt(distance, omega))));
    });
  return { node, show };
}

/** The cosines, eight in a row. */
export const cosineRows = ({ n, cosines }) => [
  ["position", ...times(COLUMNS, (place) => `+ ${place}`)],
  ...times(Math.ceil(n / COLUMNS), (r) => [
    String(r * COLUMNS),
    ...times(COLUMNS, (c) => (r * COLUMNS + c < n ? fixed(cosines[r * COLUMNS + c]) : "")),
  ]),
];

/** The two positions, pair by pair. */
export const pairRows = ({ p, later, omega, rowOf }) => [
  ["pair i", "wavelength", ...[p, later].flatMap((at) => [`PE[${at}, 2i]`, `PE[${at}, 2i + 1]`])],
  ...omega.map((speed, i) => [
    String(i),
    short((2 * Math.PI) / speed),
    ...[p, later].flatMap((at) => rowOf(at).slice(2 * i, 2 * i + 2)).map((x) => fixed(x)),
  ]),
];
