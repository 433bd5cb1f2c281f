// Heads as points between two scores: a path for each third of the layers, so that no head is an
// element of its own.

import { times } from "../core/maths/lists.js";
import { el, mark, onKeys, setText, svg } from "../core/view/dom.js";
import { along, largest, nearest, roomy } from "./maths.js";
import { LOOKS, short, told } from "./words.js";

const [W, H] = [340, 340];
const BOX = { left: 54, right: W - 10, top: 10, bottom: H - 44 };
const REACH = 0.05; // of a press, on axes from 0 to 1
const NAMED = 5; // heads of each axis
const SIGNS = ["●", "◆", "▲"];
const SHAPES = ["m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "m0 -5.2l4.8 5.2l-4.8 5.2l-4.8 -5.2z", "m0 -5l5 8.6h-10z"];

const X = (value) => BOX.left + value * (BOX.right - BOX.left);
const Y = (value) => BOX.bottom - value * (BOX.bottom - BOX.top);
const at = ([x, y]) => `${X(x).toFixed(1)} ${Y(y).toFixed(1)}`;
const words = (x, y, props) => svg("text", { x, y, "text-anchor": "middle", ...props });

/** The picture; `press` and `point` are told of a head's place, `point` of −1 too. */
export function scatter({ layers, heads }, press, point) {
  const third = (place) => Math.floor((3 * Math.floor(place / heads)) / layers);
  const dots = times(3, (part) => svg("path", `dots of-${part}`));
  const ticks = times(5, (k) => k / 4);
  const grid = ticks.map((one) => `M${at([0, one])}H${BOX.right}M${at([one, 0])}V${BOX.top}`).join("");
  const numbers = ticks.flatMap((one) => {
    const [across, up] = [words(X(one), BOX.bottom + 18), words(BOX.left - 8, Y(one) + 4, { "text-anchor": "end" })];
    for (const node of [across, up]) setText(node, String(one));
    return [across, up];
  });
  const middle = (BOX.top + BOX.bottom) / 2;
  const axes = [words((BOX.left + BOX.right) / 2, H - 6), words(12, middle, { transform: `rotate(-90 12 ${middle})` })];
  const cross = svg("path", "cross");
  const names = times(2 * NAMED + 1, () => svg("text", "name"));
  const spot = svg("circle", { r: 9, class: "spot" });
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true" },
    svg("path", { class: "axes", d: grid }),
    numbers,
    axes,
    dots,
    cross,
    spot,
    names,
  );
  let now = null;
  const under = ({ clientX, clientY }) => {
    const { left, top, width } = drawing.getBoundingClientRect();
    const [x, y] = [(clientX - left) * (W / width), (clientY - top) * (W / width)];
    const scores = [(x - X(0)) / (X(1) - X(0)), (Y(0) - y) / (Y(0) - Y(1))];
    return nearest(now.points, scores[0], scores[1], REACH);
  };
  const KEYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1] };
  const MORE = { Home: [0, -Infinity], End: [0, Infinity], PageDown: [1, -Infinity], PageUp: [1, Infinity] };
  const plot = el(
    "div",
    {
      class: "points",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "scatter plot",
      "aria-label":
        "Heads by two scores. Left and right go to the head with the next smaller or larger score across, down and " +
        "up to that of the score upwards; Home and End, Page Down and Page Up go to the ends.",
      onpointermove: (event) => event.pointerType !== "touch" && point(under(event)),
      onpointerleave: () => point(-1),
      onclick: (event) => {
        const place = under(event);
        if (place >= 0) press(place);
      },
      onkeydown: onKeys(({ key }) => {
        const way = KEYS[key] ?? MORE[key];
        if (!way) return false;
        point(-1);
        press(along(now.points, way[0], now.place, way[1]));
      }),
    },
    drawing,
  );
  const legend = times(3, (part) => {
    const own = times(layers, (layer) => layer).filter((layer) => third(layer * heads) === part);
    return own.length
      ? el("span", `sort of-${part}`, `${SIGNS[part]} layers ${own[0]} to ${own[own.length - 1]}`)
      : null;
  });
  const node = el("div", "scatter", plot, el("p", "legend", legend, el("span", "sort", "✚ all tokens alike")));
  const show = (given) => {
    now = given;
    const { x, y, points, even, place } = now;
    dots.forEach((path, part) => {
      const own = points.map((one, head) => (third(head) === part ? `M${at(one)}${SHAPES[part]}` : ""));
      path.setAttribute("d", own.join(""));
    });
    [x, y].forEach((axis, k) => setText(axes[k], `mean weight on ${told(axis)} →`));
    cross.setAttribute("d", `M${at([even[LOOKS.indexOf(x)], even[LOOKS.indexOf(y)]])}m-6 0h12m-6 -6v12`);
    spot.setAttribute("cx", X(points[place][0]).toFixed(1));
    spot.setAttribute("cy", Y(points[place][1]).toFixed(1));
    const best = [0, 1].flatMap((axis) => largest(points, NAMED, axis));
    const seen = roomy(points, [...new Set([place, ...best])], 0.13, 0.055);
    names.forEach((name, k) => {
      const head = seen[k];
      setText(name, head === undefined ? "" : short(head, heads));
      if (head === undefined) return;
      const [right, up] = points[head];
      const low = up < 0.12; // along the lower edge a name stands above its point, else beside it
      const beside = right > 0.86 ? -11 : 11;
      name.setAttribute("x", (X(right) + (low ? 0 : beside)).toFixed(1));
      name.setAttribute("y", (Y(up) + (low ? -11 : 4)).toFixed(1));
      name.setAttribute("text-anchor", low ? "middle" : right > 0.86 ? "end" : "start");
      mark(name, "lit", head === place);
    });
  };
  return { node, show };
}
