// Two bars on one axis of time, and the roofline with the present step on it.

import { times, within } from "../core/maths/lists.js";
import { el, svg } from "../core/view/dom.js";
import { corner, digits, round, timed, under } from "./maths.js";

const WIDE = 360;
const words = (x, y, text, anchor = "start", name = "") =>
  svg("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor, class: name }, text);
const path = (name, d) => svg("path", { class: name, d });

/** A titled picture that is drawn anew by `inside`. */
function picture(title, high, inside) {
  const drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${high}`, "aria-hidden": "true" });
  const show = (view) => drawing.replaceChildren(...inside(view).flat(2));
  return { node: el("div", "curve", el("p", "title", title), drawing), show };
}

const BAR = { left: 8, right: WIDE - 30, high: 20, first: 22, second: 74, axis: 104 };

export const bars = () =>
  picture("time of a step", 140, ({ now }) => {
    const end = round(now.seconds);
    const x = (seconds) => BAR.left + (seconds / end) * (BAR.right - BAR.left);
    const bar = (name, from, to, y) =>
      path(name, `M${x(from).toFixed(1)} ${y}H${x(to).toFixed(1)}v${BAR.high}H${x(from).toFixed(1)}z`);
    const { memory, arithmetic, seconds, weights, caches } = now;
    const split = (memory * weights) / (weights + caches);
    const names = [
      ["weights", `weights ${timed(split)}`],
      ["", " + "],
      ["caches", `caches ${timed(memory - split)}`],
      ["", ` = ${timed(memory)}`],
    ].map(([name, text]) => svg("tspan", { class: name }, text));
    const ticks = [0, 0.5, 1].map((share) => {
      const at = x(share * end);
      return [
        path("edge", `M${at} ${BAR.axis}v5`),
        words(at, BAR.axis + 18, share ? timed(share * end) : "0", "middle"),
      ];
    });
    const here = x(seconds).toFixed(1);
    return [
      svg("text", { x: BAR.left, y: BAR.first - 6 }, "memory: ", names),
      bar("weights", 0, split, BAR.first),
      bar("caches", split, memory, BAR.first),
      words(BAR.left, BAR.second - 6, `arithmetic: ${timed(arithmetic)}`),
      bar("products", 0, arithmetic, BAR.second),
      path("edge", `M${BAR.left} ${BAR.axis}H${BAR.right}`),
      ticks,
      path("ends", `M${here} ${BAR.first - 2}V${BAR.axis}`),
      words((BAR.left + BAR.right) / 2, BAR.axis + 34, "time; the longer bar is the step", "middle"),
    ];
  });

const BOX = { left: 46, right: WIDE - 14, top: 18, bottom: 196 };
const [LEAST, MOST] = [-1, 5]; // operations a byte, as powers of 10
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const ten = (power) => (power < 2 ? String(10 ** power) : `10${[...String(power)].map((d) => RAISED[d]).join("")}`);

export const roofline = () =>
  picture("operations a second", 236, ({ machine, now }) => {
    const least = Math.floor(Math.log10(machine.bytes_a_second)) - 1;
    const most = Math.max(least + 1, Math.ceil(Math.log10(machine.operations_a_second)));
    const share = (value, low, high) => within((Math.log10(value) - low) / (high - low), 1);
    const x = (intensity) => BOX.left + share(intensity, LEAST, MOST) * (BOX.right - BOX.left);
    const y = (operations) => BOX.bottom - share(operations, least, most) * (BOX.bottom - BOX.top);
    const spot = (intensity) => `${x(intensity).toFixed(1)} ${y(under(machine, intensity)).toFixed(1)}`;
    const turn = corner(machine);
    const bend = x(turn);
    const dot = (name, operations, bytes, r) => {
      const [cx, cy] = spot(operations / bytes)
        .split(" ")
        .map(Number);
      // one name above the roof and one below, where there is nothing
      const [anchor, way] = name === "weights" || cx > BOX.right - 60 ? ["end", -1] : ["start", 1];
      const label = words(cx + 10 * way, cy + (name === "weights" ? -7 : 16), name, anchor, name);
      return [svg("circle", { class: name, cx, cy, r }), name === "now" ? [] : label];
    };
    const along = times(MOST - LEAST + 1, (i) => {
      const at = x(10 ** (LEAST + i));
      return [path("edge", `M${at.toFixed(1)} ${BOX.bottom}v5`), words(at, BOX.bottom + 18, ten(LEAST + i), "middle")];
    });
    const up = times(most - least + 1, (i) => {
      const at = y(10 ** (least + i));
      return [
        path("grid", `M${BOX.left} ${at.toFixed(1)}H${BOX.right}`),
        words(BOX.left - 6, at + 4, ten(least + i), "end"),
      ];
    });
    const { weights, caches, products, attention } = now;
    return [
      up,
      along,
      words((BOX.left + BOX.right) / 2, BOX.bottom + 35, "operations a byte", "middle"),
      path("turn", `M${bend.toFixed(1)} ${y(machine.operations_a_second).toFixed(1)}V${BOX.bottom}`),
      words(within(bend - 6, BOX.right - 100), BOX.bottom - 6, "memory limits", "end"),
      words(Math.max(bend, BOX.left + 90) + 6, BOX.bottom - 6, "arithmetic limits"),
      words(Math.max(bend, BOX.left + 90) + 6, BOX.bottom - 22, `corner ${digits(turn)}`),
      path("limit", `M${[10 ** LEAST, turn, 10 ** MOST].map(spot).join("L")}`),
      dot("weights", products, weights, 6),
      dot("caches", attention, caches, 6),
      dot("now", products + attention, weights + caches, 4.5),
    ];
  });
