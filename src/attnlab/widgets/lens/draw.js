// The word that is said at last: how probable it is after each layer, and what each layer adds to it.

import { el, svg } from "../core/view/dom.js";
import { quoted } from "../core/view/text.js";
import { added, rising } from "./maths.js";
import { shown } from "./words.js";

const [W, H] = [340, 238];
const BOX = { left: 36, right: W - 8, top: 10, middle: 98, up: 122, bottom: 202 };
const words = (x, y, text, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor }, text);
const path = (name) => svg("path", name);

export function chart() {
  const inside = {
    axes: path("axes"),
    line: path("line"),
    one: path("attention"),
    two: path("forward"),
    now: path("mark"),
  };
  const numbers = svg("g", {});
  const drawing = svg("svg", { viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true" }, Object.values(inside), numbers);
  const legend = el("p", "legend", el("span", "attention", "■ attention "), el("span", "forward", "■ feed-forward"));
  const show = ({ one, steps, step, token, final }) => {
    const x = (k) => BOX.left + ((k + 0.5) / (steps + 1)) * (BOX.right - BOX.left);
    const y = (chance) => BOX.middle - chance * (BOX.middle - BOX.top);
    const adds = added(one, token);
    const most = Math.max(1, ...adds.flat().map(Math.abs));
    const zero = (BOX.up + BOX.bottom) / 2;
    const high = (value) => (value / most) * ((BOX.bottom - BOX.up) / 2);
    const bars = (part) =>
      adds
        .map((both, k) => `M${(x(k + 1) + 4 * part - 2).toFixed(1)} ${zero}v${(-high(both[part])).toFixed(1)}`)
        .join("");
    inside.axes.setAttribute("d", [y(0), y(0.5), y(1), zero].map((at) => `M${BOX.left} ${at}H${BOX.right}`).join(""));
    inside.line.setAttribute(
      "d",
      `M${rising(one, token)
        .map((chance, k) => `${x(k).toFixed(1)} ${y(chance).toFixed(1)}`)
        .join("L")}`,
    );
    inside.one.setAttribute("d", bars(0));
    inside.two.setAttribute("d", bars(1));
    inside.now.setAttribute("d", `M${x(step).toFixed(1)} ${BOX.top}V${BOX.bottom}`);
    numbers.replaceChildren(
      ...[0, 0.5, 1].map((at) => words(BOX.left - 5, y(at) + 4, String(at), "end")),
      words(BOX.left, BOX.up - 9, `↑ probability of ${quoted(shown(final))}, ↓ added to its logit`, "start"),
      words(BOX.left - 5, BOX.up + 8, `+${most.toFixed(0)}`, "end"),
      ...[0, steps - 1].map((k) => words(x(k + 1), BOX.bottom + 16, String(k))),
      words((BOX.left + BOX.right) / 2, H - 3, "layer →"),
    );
  };
  return { node: el("div", "towards", drawing, legend), show };
}
