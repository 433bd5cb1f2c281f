// After how many tokens each pair comes round, before and after scaling, against the trained length.

import { times } from "../core/maths/lists.js";
import { grouped } from "../core/maths/number.js";
import { el, setText, svg } from "../core/view/dom.js";
import { ROUND } from "./maths.js";

const [W, H] = [360, 250];
const BOX = { left: 62, right: W - 8, top: 12, bottom: H - 36 };
const LABELS = 5; // at most so many powers of ten have a name

const ring = (x, y, r) => `M${x} ${y}m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;

/** The axis is as high as the most that any scaling makes of this head, so that it stays. */
export function curve({ d, base, trained, most }) {
  const top = Math.ceil(Math.log10(Math.max(ROUND * base ** ((d - 2) / d) * most, trained * most)));
  const count = d / 2;
  const x = (i) => (BOX.left + (i / (count - 1)) * (BOX.right - BOX.left)).toFixed(1);
  const y = (tokens) => (BOX.bottom - (Math.log10(tokens) / top) * (BOX.bottom - BOX.top)).toFixed(1);
  const words = (props, text) => svg("text", props, text);
  const [axes, limit, far, before, after, dots, never, here] = [
    "axes",
    "limit",
    "far",
    "before",
    "line",
    "dots",
    "never",
    "here",
  ].map((name) => svg("path", name));
  const step = Math.ceil((top + 1) / LABELS);
  const powers = times(Math.floor(top / step) + 1, (place) => place * step);
  axes.setAttribute("d", powers.map((p) => `M${BOX.left} ${y(10 ** p)}H${BOX.right}`).join(""));
  limit.setAttribute("d", `M${BOX.left} ${y(trained)}H${BOX.right}`);
  const chosen = words({ y: H - 5, "text-anchor": "middle", class: "here" });
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true" },
    axes,
    limit,
    far,
    powers.map((p) => words({ x: BOX.left - 6, y: Number(y(10 ** p)) + 4, "text-anchor": "end" }, grouped(10 ** p))),
    words({ x: BOX.left + 4, y: Number(y(trained)) - 5, class: "limit" }, `n₀ = ${grouped(trained)}`),
    [0, count - 1].map((i) => words({ x: x(i), y: H - 20, "text-anchor": i ? "end" : "start" }, String(i))),
    chosen,
    before,
    after,
    dots,
    never,
    here,
  );
  const title = "tokens until a pair comes round";
  const node = el("div", "half curve", el("p", "title", title), picture);
  const show = ({ plainly, now, hands, pair, distance }) => {
    const spots = (speeds) => speeds.map((speed, i) => [x(i), y(ROUND / speed)]);
    const line = (speeds) =>
      `M${spots(speeds)
        .map((spot) => spot.join(" "))
        .join("L")}`;
    const rings = (outside) =>
      spots(now)
        .map(([left, high], i) => (hands[i].outside === outside ? ring(left, high, outside ? 3.2 : 2) : ""))
        .join("");
    far.setAttribute("d", `M${BOX.left} ${y(distance)}H${BOX.right}`);
    before.setAttribute("d", line(plainly));
    after.setAttribute("d", line(now));
    dots.setAttribute("d", rings(false));
    never.setAttribute("d", rings(true));
    here.setAttribute("d", `M${x(pair)} ${BOX.top}V${BOX.bottom}`);
    setText(chosen, `pair ${pair}`);
    chosen.setAttribute("x", String(Math.max(BOX.left + 18, Math.min(BOX.right - 22, Number(x(pair))))));
  };
  return { node, show };
}
