// What was measured, as points: keys that a token sees against perplexity, both on logarithmic axes.

import { times } from "../core/maths/lists.js";
import { grouped } from "../core/maths/number.js";
import { el, nodes, setText, svg } from "../core/view/dom.js";

const [W, H] = [270, 225];
const BOX = { left: 34, right: W - 12, top: 22, bottom: H - 38 };
const R = 4.5;

/** Kinds of measurement, each with its own shape and line. */
const KINDS = [
  { name: "last", sign: "●", says: "the last ones", of: ({ last, first }) => last && !first },
  { name: "one", sign: "◆", says: "and the first", of: ({ first }) => first === 1 },
  { name: "more", sign: "□", says: "and more first", of: ({ first }) => first > 1 },
  { name: "top", sign: "▲", says: "largest scores", of: ({ top }) => top },
  { name: "whole", sign: "■", says: "all", of: ({ last, top }) => !last && !top },
];

const SHAPES = {
  last: `m${-R} 0a${R} ${R} 0 1 0 ${2 * R} 0a${R} ${R} 0 1 0 ${-2 * R} 0z`,
  one: "m0 -6l5.4 6l-5.4 6l-5.4 -6z",
  more: "m-7.5 -7.5h15v15h-15z",
  top: "m0 -5.6l5.6 9.8h-11.2z",
  whole: "m-5 -5h10v10h-10z",
};

/** Round numbers from low to high. @type {(low: number, high: number) => number[]} */
const levels = (low, high) =>
  times(10, (power) => [1, 1.5, 2, 3, 5, 7].map((digit) => digit * 10 ** power))
    .flat()
    .filter((level) => level >= low && level <= high);

/** @type {(low: number, high: number, from: number, to: number) => (value: number) => number} */
const scale = (low, high, from, to) => (value) => from + ((to - from) * Math.log(value / low)) / Math.log(high / low);

export function ladder(measured) {
  const lost = measured.map(({ perplexity }) => perplexity);
  const [low, high] = [Math.min(...lost) / 1.12, Math.max(...lost) * 1.12];
  const keys = [...new Set(measured.map((one) => one.keys))].sort((a, b) => a - b);
  const x = scale(keys[0] / 1.3, keys[keys.length - 1] * 1.3, BOX.left, BOX.right);
  const y = scale(low, high, BOX.bottom, BOX.top);
  const at = (one) => `${x(one.keys).toFixed(1)} ${y(one.perplexity).toFixed(1)}`;
  const words = (props, text) => svg("text", props, text);
  const grid = svg("path", {
    class: "axes",
    d: levels(low, high)
      .map((level) => `M${BOX.left} ${y(level).toFixed(1)}H${BOX.right}`)
      .join(""),
  });
  const names = [
    ...levels(low, high).map((level) =>
      words({ x: BOX.left - 6, y: (y(level) + 4).toFixed(1), "text-anchor": "end" }, String(level)),
    ),
    ...keys.map((count) => words({ x: x(count).toFixed(1), y: H - 22, "text-anchor": "middle" }, grouped(count))),
    words({ x: (BOX.left + BOX.right) / 2, y: H - 4, "text-anchor": "middle" }, "keys that a token sees, at most"),
  ];
  const there = KINDS.map((kind) => ({ ...kind, points: measured.filter(kind.of) }));
  const whole = there[there.length - 1].points;
  const used = there.filter(({ points }) => points.length);
  const lines = used.flatMap(({ name, points }) => {
    const along = [...points, ...whole].sort((a, b) => a.keys - b.keys);
    return name === "whole" || points.length < 2
      ? []
      : svg("path", { class: `line ${name}`, d: `M${along.map(at).join("L")}` });
  });
  const dots = used.map(({ name, points }) =>
    svg("path", { class: `dots ${name}`, d: points.map((one) => `M${at(one)}${SHAPES[name]}`).join("") }),
  );
  const ring = svg("circle", { r: 12, class: "spot" });
  const value = svg("text", { class: "lit", "text-anchor": "middle" });
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true" },
    grid,
    names,
    lines,
    dots,
    ring,
    value,
  );
  const legend = nodes(used.map(({ name, sign, says }) => ({ node: el("span", `sort ${name}`, `${sign} ${says}`) })));
  const node = el(
    "div",
    "ladder",
    el("p", "title", "the model’s perplexity, measured"),
    picture,
    el("p", "legend", legend),
  );
  const show = (place) => {
    const one = measured[place];
    for (const part of [ring, value]) part.style.display = one ? "" : "none";
    if (!one) return;
    ring.setAttribute("cx", x(one.keys).toFixed(1));
    ring.setAttribute("cy", y(one.perplexity).toFixed(1));
    value.setAttribute("x", Math.min(x(one.keys), BOX.right - 14).toFixed(1));
    value.setAttribute("y", (y(one.perplexity) - 17).toFixed(1));
    setText(value, one.perplexity.toFixed(1));
  };
  return { node, show };
}
