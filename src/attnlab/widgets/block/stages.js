// A block drawn as a way down: each stage's numbers as signed bars, and the line of the sum, which
// goes round each part. Under it, where the chosen token looks.

import { el, grid, mark, note, scroller, setText, setVar, svg } from "../core/view/dom.js";
import { fixed } from "../core/view/text.js";
import { measures } from "./maths.js";

const NOISE = 1e-12; // what is smaller is no more than rounding

/** A number that may be far from 1, in a narrow column: 1.235, 123.5, 1.2e7, 4.0e−5. */
export function short(value, decimals = 3, least = 0.5 / 10 ** decimals) {
  const size = Math.abs(value);
  const far = size >= 1e4 || (size > NOISE && size < least);
  return far
    ? value.toExponential(1).replace("+", "").replaceAll("-", "−")
    : fixed(value, size < 100 ? decimals : decimals - 2);
}

/** A component: a small one is 0 to the eye, as its bar shows. */
export const component = (value) => short(value, 2, 0);

/** @type {[string, string, number?][]} */
const MEASURES = [
  ["mean", "mu", 0],
  ["sd", "sd"],
  ["length", "length"],
];

/** [name, text] of each measure. */
export function measured(x) {
  const found = measures(x);
  return MEASURES.map(([name, key, least]) => [name, short(found[key], 3, least)]);
}

/** What a stage is called: its formula, and where the vector comes from or goes to. */
export function named({ stages, at }, s) {
  const before = at === 1 ? "" : `, from block ${at - 1}`;
  return stages[s].formula + (s ? "" : before);
}

export function stageList() {
  const list = el("ol", "flow");
  const under = note();
  const show = (now) => {
    const rows = now.stages.map(({ rows: all }) => all[now.token]);
    const most = Math.max(...rows.flat().map(Math.abs));
    list.replaceChildren(
      ...rows.map((x, s) =>
        el(
          "li",
          {},
          rail(now, s),
          el("span", {}, named(now, s)),
          el(
            "span",
            "cells signed",
            x.map((value) => cell(value, most)),
          ),
          el(
            "span",
            "cells measures",
            measured(x).map(([name, text]) => el("span", {}, el("i", {}, name), ` ${text}`)),
          ),
        ),
      ),
    );
    setText(under, `A full bar to the right or to the left: ${component(most)}.`);
  };
  return { node: el("div", {}, list, under), show };
}

/** The number, and under it a bar to the right where it is positive, to the left where negative. */
function cell(value, most) {
  const node = el("span", { class: value < 0 ? "minus" : "" }, component(value));
  const share = most ? (50 * value) / most : 0;
  setVar(node, "from", `${50 + Math.min(0, share)}%`);
  setVar(node, "to", `${50 + Math.max(0, share)}%`);
  return node;
}

/** The way through a stage, and beside it the way round the parts. */
function rail({ stages, residual }, s) {
  const { kind } = stages[s];
  const last = s === stages.length - 1;
  const line = (d) => svg("path", { d });
  const lines = [line(`M70 ${s ? 0 : 50}V${last ? 50 : 100}`)];
  if (residual && kind === "part") lines.push(line("M20 0V100"));
  if (kind === "sum") lines.push(line("M20 0V50H70"));
  if (residual && kind !== "part" && stages[s + 1]?.kind === "part") lines.push(line("M70 50H20V100"));
  return el(
    "span",
    { class: "rail", "aria-hidden": "true" },
    svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" }, lines),
    el("b", kind === "sum" ? "sum" : {}, kind === "sum" ? "+" : ""),
  );
}

/** The weights with which the chosen token attends, a row for each head. */
export function weightTable(view) {
  const place = scroller("attention’s weights of the chosen token");
  const show = ({ weights, token }) => {
    const head = [`${view.names[token]} attends to`, ...view.names];
    place.replaceChildren(
      grid(
        head.map((text) => el("th", { scope: "col" }, text)),
        weights.map((all, h) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, `head ${h}`),
            all[token].map((w) => el("td", { style: `--w:${w.toFixed(3)}` }, fixed(w))),
          ),
        ),
      ),
    );
  };
  return { node: place, show };
}

/** What is left after each block: a column for each, which leads to its stages. */
export function strip(view) {
  const place = scroller("what is left after each block");
  let seen = 0;
  const show = ({ trace, at, blocks }) => {
    place.hidden = blocks === 1;
    const most = Math.max(...trace.map(({ length }) => length)) || 1;
    const column = (tag, text, b, share) => {
      const node = el(tag, { scope: tag === "th" && "col", onclick: () => b && view.store.set({ shown: b }) }, text);
      if (share !== undefined) setVar(node, "h", `${100 * Math.max(0, share)}%`);
      return node;
    };
    const heads = trace.map((_, b) => column("th", b || "x", b));
    mark(heads[at], "now");
    const line = (name, key, by) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, name),
        trace.map((one, b) => column("td", one[key] === null ? "–" : short(one[key], 2), b, by && one[key] / by)),
      );
    place.replaceChildren(
      grid(
        [el("th", { scope: "col" }, "after block"), heads],
        [
          line("length", "length", most),
          line("sd", "sd"),
          line("cosine to x", "first", 1),
          view.names.length > 1 ? line("cosine to others", "others", 1) : "",
        ],
      ),
    );
    if (at === seen) return; // measuring costs more than all the rest
    seen = at;
    place.scrollLeft = heads[at].offsetLeft - place.clientWidth / 2; // on a phone it stays in sight
  };
  mark(place, "trace");
  return { node: place, show };
}
