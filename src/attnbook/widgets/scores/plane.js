// The plane: the query and the keys as arrows from its middle, whose tips are moved by pointer
// and keys, and through each key the line on which a key would get the same score.

import { times } from "../core/maths/lists.js";
import { el, mark, nodes, onKeys, setVar, svg } from "../core/view/dom.js";
import { levelLine, sampled } from "./maths.js";

export const EDGE = 4;
const HALF = EDGE + 0.5; // room for the tips at the very edge
const UNIT = 40; // of the drawing
const CELLS = 32;

const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const path = (name, d = "") => svg("path", { class: name, d });

export function plane(view) {
  const levels = path("level");
  const arrows = view.places.map(({ r }) => path(r === undefined ? "asks" : "arrow"));
  const tips = view.places.map((place) => tip(view, place));
  const size = 2 * HALF * UNIT;
  const label = (x, y) => svg("text", { x: (HALF + x) * UNIT + 3, y: (HALF - y) * UNIT - 4 }, "4");
  const node = el(
    "div",
    { class: "plane", role: "group", "aria-label": "vectors, drawn" },
    svg(
      "svg",
      { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" },
      path("grid", grid()),
      path("axes", cross(0)),
      label(EDGE, 0),
      label(0, EDGE),
      levels,
      ...arrows,
    ),
    nodes(tips),
  );
  const show = (now) => {
    const points = sampled(now.by[now.chosen], EDGE, CELLS);
    levels.setAttribute(
      "d",
      now.scores[now.chosen]
        .flatMap((score) => levelLine(points, score).map(([from, to]) => stroke(from, to)))
        .join(""),
    );
    view.places.forEach((place, k) => arrows[k].setAttribute("d", arrow(place.at(now))));
    tips.forEach((one) => one.show(now));
  };
  return { node, show };
}

const spot = ([x, y]) => `${((HALF + x) * UNIT).toFixed(1)} ${((HALF - y) * UNIT).toFixed(1)}`;
const stroke = (from, to) => `M${spot(from)}L${spot(to)}`;

/** Two lines across the plane, at x and at y. */
const cross = (at) => stroke([at, -EDGE], [at, EDGE]) + stroke([-EDGE, at], [EDGE, at]);

const grid = () => times(2 * EDGE + 1, (k) => cross(k - EDGE)).join("");

function arrow([x, y]) {
  const way = Math.atan2(y, x);
  const barb = (turn) => [x - Math.cos(way + turn) / 4, y - Math.sin(way + turn) / 4];
  return stroke([0, 0], [x, y]) + (x || y ? stroke(barb(0.45), [x, y]) + stroke(barb(-0.45), [x, y]) : "");
}

/** The tip of one arrow, to be dragged or moved by keys. */
function tip(view, place) {
  const asks = place.r === undefined;
  let held = null; // while the pointer is down: from the pointer to the tip
  const move = (to, digits) =>
    view.change(place, place.put(to.map((x) => Math.max(-EDGE, Math.min(EDGE, Number(x.toFixed(digits)))))));
  const node = el(
    "button",
    {
      type: "button",
      class: asks ? "tip asks" : "tip",
      onpointerdown(event) {
        if (event.button || !event.isPrimary) return;
        node.focus();
        view.fresh = true;
        node.setPointerCapture(event.pointerId);
        const at = under(event, node);
        held = place.at(view.now).map((x, axis) => x - at[axis]);
      },
      onpointermove(event) {
        if (held)
          move(
            under(event, node).map((x, axis) => x + held[axis]),
            1,
          );
      },
      onlostpointercapture: () => {
        held = null;
      },
      onkeydown: onKeys(({ key, shiftKey }) => {
        const way = KEYS[key];
        const far = shiftKey ? 1 : 0.1;
        return way
          ? move(
              place.at(view.now).map((x, axis) => x + way[axis] * far),
              3,
            )
          : false;
      }),
    },
    el("span", "ring"),
    el("span", "token", place.name),
  );
  const show = (now) => {
    const [x, y] = place.at(now);
    setVar(node, "x", (0.5 + x / HALF / 2).toFixed(4));
    setVar(node, "y", (0.5 - y / HALF / 2).toFixed(4));
    setVar(node, "size", asks ? 0.3 : now.weights[now.chosen][place.r].toFixed(3));
    mark(node, "below", y < 0);
    node.setAttribute("aria-label", `${place.label} ${place.text(now)}`);
  };
  return { node, show };
}

/** Where in the plane the pointer is. */
function under({ clientX, clientY }, node) {
  const { left, bottom, width, height } = node.parentNode.getBoundingClientRect();
  return [(clientX - left) / width, (bottom - clientY) / height].map((x) => (2 * x - 1) * HALF);
}
