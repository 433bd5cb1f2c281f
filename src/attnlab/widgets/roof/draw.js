// Two bars on one axis of time, and the roofline with the present step on it.

import { times, within } from "../core/maths/lists.js";
import { grouped } from "../core/maths/number.js";
import { el, svg } from "../core/view/dom.js";
import { digits, timed } from "../parts/units.js";

const WIDE = 360;
const words = (x, y, text, anchor = "middle", name = "") =>
  svg("text", { x, y, "text-anchor": anchor, class: name }, text);
const path = (d, name = "", thick = 1) => svg("path", { class: name, d, "stroke-width": thick });

/** A titled picture that is drawn anew by `inside`. */
function picture(title, high, inside) {
  const drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${high}`, "aria-hidden": "true" });
  const show = (now) => drawing.replaceChildren(...inside(now).flat(2));
  return { node: el("div", "curve", el("p", "title", title), drawing), show };
}

/** The next of 1, 2, 5, 10, … that is no less: the end of an axis. @type {(value: number) => number} */
export function round(value) {
  const ten = 10 ** Math.floor(Math.log10(value));
  return ten * ([1, 2, 5].find((part) => part * ten >= value) ?? 10);
}

const BAR = { left: 8, right: WIDE - 30, first: 32, second: 84, axis: 104 };

export const bars = () =>
  picture("least time of a step", 140, ({ now: { memory, arithmetic, seconds, weights, caches } }) => {
    const end = round(seconds);
    const x = (time) => BAR.left + (time / end) * (BAR.right - BAR.left);
    const bar = (name, from, to, y) => path(`M${x(from)} ${y}H${x(to)}`, name, 20);
    const split = (memory * weights) / (weights + caches);
    const part = (name, time) => svg("tspan", name, `${name} ${timed(time)}`);
    return [
      svg(
        "text",
        { x: BAR.left, y: BAR.first - 16 },
        "memory: ",
        part("weights", split),
        " + ",
        part("caches", memory - split),
        ` = ${timed(memory)}`,
      ),
      bar("weights", 0, split, BAR.first),
      bar("caches", split, memory, BAR.first),
      words(BAR.left, BAR.second - 16, `arithmetic: ${timed(arithmetic)}`, "start"),
      bar("", 0, arithmetic, BAR.second),
      path(`M${BAR.left} ${BAR.axis}H${BAR.right}`),
      [0, end / 2, end].map((time) => [
        path(`M${x(time)} ${BAR.axis}v5`),
        words(x(time), BAR.axis + 18, time ? timed(time) : "0"),
      ]),
      path(`M${x(seconds)} ${BAR.first - 12}V${BAR.axis}`, "mark"),
      words(WIDE / 2, BAR.axis + 34, "time"),
    ];
  });

const [ROW, TOP, EDGE] = [40, 64, WIDE - 72]; // EDGE: where the longest of the ways' bars may end
export const PARTS = ["weights", "caches", "arithmetic", "draft"];

/** A bar for each way of writing, part by part; one that keeps nothing runs off the axis. */
export const ways = (count) =>
  picture("least time for a token of each text", TOP + count * ROW + 26, ({ paces }) => {
    const kept = paces.filter(({ cached }) => cached);
    const end = round(Math.max(...(kept.length ? kept : paces).map(({ seconds }) => seconds)));
    const x = (time) => BAR.left + (Math.min(time, 1.06 * end) / end) * (EDGE - BAR.left);
    const bar = ({ name, seconds, ...parts }, i) => {
      const y = TOP + i * ROW;
      const ends = PARTS.map((_, k) => PARTS.slice(0, k + 1).reduce((sum, part) => sum + parts[part], 0));
      return [
        words(BAR.left, y - 14, name, "start"),
        ...PARTS.map((part, k) => path(`M${x(ends[k - 1] ?? 0)} ${y}H${x(ends[k])}`, part, 20)),
        words(x(seconds) + 5, y + 4, timed(seconds) + (seconds > 1.06 * end ? " →" : ""), "start", "now"),
      ];
    };
    const there = PARTS.filter((part) => paces.some((one) => one[part] > 0));
    const low = TOP + count * ROW - 16;
    return [
      svg("text", { x: BAR.left, y: 16 }, ...there.map((part) => svg("tspan", part, `■ ${part} \u2002`))),
      paces.map(bar),
      path(`M${BAR.left} ${low}H${EDGE}`),
      [0, end / 2, end].map((time) => [
        path(`M${x(time)} ${low}v5`),
        words(x(time), low + 18, time ? timed(time) : "0"),
      ]),
    ];
  });

const BOX = { left: 46, right: WIDE - 20, top: 18, bottom: 196 };
const [LEAST, MOST] = [-1, 4]; // operations a byte, as powers of 10
const TRILLION = 12;

export const roofline = () =>
  picture("trillion operations a second", 236, ({ machine, now }) => {
    const { bytes_a_second: rate, operations_a_second: peak } = machine;
    const low = Math.floor(Math.log10(rate)) - 1;
    const high = Math.max(low + 1, Math.ceil(Math.log10(peak)));
    const share = (value, least, most) => within((Math.log10(value) - least) / (most - least), 1);
    const x = (intensity) => BOX.left + share(intensity, LEAST, MOST) * (BOX.right - BOX.left);
    const y = (operations) => BOX.bottom - share(operations, low, high) * (BOX.bottom - BOX.top);
    const roof = (intensity) => y(Math.min(peak, rate * intensity));
    const [corner, foot] = [peak / rate, BOX.bottom - 6];
    const right = within(x(corner), BOX.right - 88); // of it there is room for words
    const dot = (name, operations, bytes) => {
      const [cx, cy] = [x(operations / bytes), roof(operations / bytes)];
      // one name above the roof and one below, where there is nothing
      const above = name === "weights";
      const left = above || cx > BOX.right - 60;
      const [r, thick] = name === "now" ? [2, 4] : [5, 2.5]; // full, or a ring
      const label =
        r > 2 ? words(cx + (left ? -10 : 10), cy + (above ? -7 : 16), name, left ? "end" : "start", name) : [];
      return [svg("circle", { class: name, cx, cy, r, "stroke-width": thick }), label];
    };
    return [
      times(high - low + 1, (i) => {
        const at = y(10 ** (low + i));
        const name = grouped(10 ** (low + i - TRILLION));
        return [path(`M${BOX.left} ${at}H${BOX.right}`, "grid"), words(BOX.left - 6, at + 4, name, "end")];
      }),
      times(MOST - LEAST + 1, (i) => {
        const at = x(10 ** (LEAST + i));
        return [path(`M${at} ${BOX.bottom}v5`), words(at, BOX.bottom + 18, grouped(10 ** (LEAST + i)))];
      }),
      words(WIDE / 2, BOX.bottom + 35, "operations a byte"),
      path(`M${x(corner)} ${y(peak)}V${BOX.bottom}`, "mark"),
      words(right - 6, foot, "memory limits", "end"),
      words(right + 6, foot, "arithmetic limits", "start"),
      words(right + 6, foot - 16, `corner ${digits(corner)}`, "start"),
      path(`M${[10 ** LEAST, corner, 10 ** MOST].map((one) => `${x(one)} ${roof(one)}`).join("L")}`, "limit", 2),
      dot("weights", now.products, now.weights),
      dot("caches", now.attention, now.caches),
      dot("now", now.operations, now.weights + now.caches),
    ];
  });
