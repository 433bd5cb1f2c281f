// The word that is said at last, in two pictures over the layers: how probable it is after each, and
// what each adds to its logit, with the sum of all that was added so far.

import { el, setText, svg } from "../core/view/dom.js";
import { quoted } from "../core/view/text.js";
import { added, rising, summed } from "./maths.js";
import { shown } from "./words.js";

const [W, H] = [330, 168];
const BOX = { left: 32, right: W - 6, top: 8, bottom: 134 };
const words = (x, y, text, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor }, text);

/** One picture under its own title, with paths of these classes over axes of their own. */
function over(title, ...classes) {
  const paths = ["axes", "mark", ...classes].map((name) => svg("path", name));
  const numbers = svg("g", {});
  const drawing = svg("svg", { viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true" }, paths, numbers);
  const show = ({ steps, step }, ticks, shapes) => {
    const [low, high] = [Math.min(...ticks), Math.max(...ticks)];
    const x = (k) => BOX.left + ((k + 0.5) / (steps + 1)) * (BOX.right - BOX.left);
    const y = (value) => BOX.bottom - ((value - low) / (high - low)) * (BOX.bottom - BOX.top);
    const to = (k, value, by = 0) => `${(x(k) + by).toFixed(1)} ${y(value).toFixed(1)}`;
    const axes = ticks.map((at) => `M${BOX.left} ${y(at)}H${BOX.right}`).join("");
    const drawn = [axes, `M${to(step, low)}V${BOX.top}`, ...shapes.map((shape) => shape(to))];
    for (const [each, d] of drawn.entries()) paths[each].setAttribute("d", d);
    numbers.replaceChildren(
      ...ticks.map((at) => words(BOX.left - 5, y(at) + 4, at.toFixed(at % 1 ? 1 : 0).replace("-", "−"), "end")),
      ...[0, steps - 1].map((k) => words(x(k + 1), BOX.bottom + 15, String(k))),
      words((BOX.left + BOX.right) / 2, H - 4, "layer →"),
    );
  };
  return { node: el("div", "half", title, drawing), show };
}

const line = (values) => (to) => `M${values.map((value, k) => to(k, value)).join("L")}`;

export function chart() {
  const [first, second] = [el("p"), el("p")];
  const likely = over(first, "line");
  const legend = [el("span", "attention", "■ attention "), el("span", "forward", "■ feed-forward "), "— all so far"];
  const adding = over(second, "attention", "forward", "line");
  adding.node.append(el("p", {}, legend));
  const show = (now) => {
    const { one, token, final } = now;
    const word = quoted(shown(final));
    setText(first, `Probability of ${word}`);
    setText(second, `Added to the logit of ${word}`);
    likely.show(now, [0, 0.5, 1], [line(rising(one, token))]);
    const adds = added(one, token);
    const sums = summed(adds);
    const all = [...sums, ...adds.flat()];
    const ends = [Math.floor(Math.min(...all)), Math.max(1, Math.ceil(Math.max(...all)))];
    const bars = (part) => (to) =>
      adds.map((both, k) => `M${to(k + 1, 0, 4 * part - 2)}L${to(k + 1, both[part], 4 * part - 2)}`).join("");
    adding.show(now, [...new Set([...ends, 0])], [bars(0), bars(1), line(sums)]);
  };
  return { node: el("div", "main towards", likely.node, adding.node), show };
}
