// A plane for each score: the query and the keys as arrows from its middle, whose tips are moved by
// pointer and keys, and through each key the line on which a key would get the same score.

import { times } from "../core/maths/lists.js";
import { el, nodes, onKeys, setText, setVar, svg } from "../core/view/dom.js";
import { levelLine, sampled } from "./maths.js";

export const EDGE = 4; // no vector goes farther
const UNIT = 40; // of the drawing
const CELLS = 32;

const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const path = (name) => svg("path", { class: name });

/** The four planes: a hand in one of them moves them all. */
export function planes(view, many) {
  const parts = times(many, (s) => plane(view, s));
  view.edge = 0;
  view.held = false; // a tip
  const show = (now) => {
    const farthest = Math.ceil(Math.max(1, ...[now.query, ...now.key].flat().map(Math.abs)));
    // they grow with the longest vector, but not under a hand, and never shrink
    if (!view.held && view.edge < EDGE && farthest >= view.edge) view.edge = Math.min(EDGE, farthest + 1);
    parts.forEach((part) => part.show(now));
  };
  view.drop = () => {
    view.held = false;
    show(view.now);
  };
  return { parts, show };
}

function plane(view, s) {
  const levels = path("level");
  const [lines, axes] = [path("grid"), path("axes")];
  const [asks, arrows] = [path("asks"), path("arrow")];
  const tips = view.places.map((place) => tip(view, s, place, (event) => nearest(tips, event).grab(event)));
  const labels = times(s ? 0 : 2, () => svg("text", {})); // they are alike in all
  const drawing = svg("svg", { "aria-hidden": "true" }, lines, axes, labels, levels, arrows, asks);
  const node = el("div", { class: "plane", role: "group", "aria-label": "vectors, drawn" }, drawing, nodes(tips));
  if (s) node.setAttribute("aria-hidden", "true"); // its tips are the pointer's: the first plane's are all
  let drawn = 0;
  const show = (now) => {
    const { edge } = view;
    const ends = view.places.map((place) => place.at(now));
    if (drawn !== edge) widen(edge);
    const points = sampled(now.by[s], edge, CELLS);
    const pieces = now.scores[s].flatMap((score) => levelLine(points, score));
    levels.setAttribute("d", pieces.map(([from, to]) => stroke(edge, from, to)).join(""));
    const [first, ...others] = ends.map((end) => arrow(edge, end));
    asks.setAttribute("d", first);
    arrows.setAttribute("d", others.join(""));
    tips.forEach((one) => one.show(now));
    name(edge, node.clientWidth, tips, ends);
  };
  function widen(edge) {
    drawn = edge;
    const half = edge + ROOM;
    drawing.setAttribute("viewBox", `0 0 ${2 * half * UNIT} ${2 * half * UNIT}`);
    axes.setAttribute("d", cross(edge, 0));
    lines.setAttribute("d", times(2 * edge + 1, (k) => cross(edge, k - edge)).join(""));
    labels.forEach((text, axis) => {
      text.setAttribute("x", (half + (axis ? 0 : edge)) * UNIT + 3);
      text.setAttribute("y", axis ? (half - edge) * UNIT - 4 : half * UNIT + 24);
      setText(text, String(edge));
    });
  }
  return { node, show };
}

const ROOM = 0.5; // for the tips at the very edge
const spot = (edge, [x, y]) => `${((edge + ROOM + x) * UNIT).toFixed(1)} ${((edge + ROOM - y) * UNIT).toFixed(1)}`;
const stroke = (edge, from, to) => `M${spot(edge, from)}L${spot(edge, to)}`;

/** Two lines across the plane, at x and at y. */
const cross = (edge, at) => stroke(edge, [at, -edge], [at, edge]) + stroke(edge, [-edge, at], [edge, at]);

function arrow(edge, [x, y]) {
  const way = Math.atan2(y, x);
  const barb = (turn) => stroke(edge, [x - Math.cos(way + turn) / 4, y - Math.sin(way + turn) / 4], [x, y]);
  return stroke(edge, [0, 0], [x, y]) + (x || y ? barb(0.45) + barb(-0.45) : "");
}

const TURNS = [0, 1, -1, 2, -2, 3, -3, 4]; // eighths of a circle
const PLACES = [0, 7].flatMap((out) => TURNS.map((turn, cost) => ({ turn, out, cost: cost + out }))); // px from the tip
const STEPS = times(16, (step) => (step + 1) / 16); // of an arrow

/** Write each name where it lies on no circle, arrow or name; at best behind its arrow's tip. */
function name(edge, width, tips, ends) {
  if (!width) return; // not in the page, or folded away
  const unit = width / (edge + ROOM) / 2;
  const centre = ([x, y]) => [width / 2 + x * unit, width / 2 - y * unit];
  const rings = tips.map(({ radius }, k) => ({ at: centre(ends[k]), half: [radius(), radius()] }));
  const along = ends.flatMap(([x, y]) => STEPS.map((share) => ({ at: centre([x * share, y * share]), half: [2, 2] })));
  const names = [];
  tips.forEach(({ token }, k) => {
    const half = [token.offsetWidth / 2 + 1, token.offsetHeight / 2 - 1];
    const found = PLACES.map(({ turn, out, cost }) => {
      const way = Math.atan2(ends[k][1], ends[k][0]) + (turn * Math.PI) / 4;
      const [cos, sin] = [Math.cos(way), -Math.sin(way)];
      // so far from the tip that the name's edge is beyond the circle's
      const far =
        rings[k].half[0] + out + Math.min(half[0] / (Math.abs(cos) || 1e-9), half[1] / (Math.abs(sin) || 1e-9)) + 1;
      const free = [cos, sin].map((part, axis) => rings[k].at[axis] + part * far);
      const at = free.map((x, axis) => Math.max(half[axis], Math.min(width - half[axis], x)));
      const hit = [...rings, ...names, ...along].reduce((sum, other) => sum + common({ at, half }, other), 0);
      return { at, half, cost: cost + hit };
    }).reduce((best, one) => (one.cost < best.cost ? one : best));
    names.push(found);
    ["dx", "dy"].forEach((side, axis) => setVar(token, side, `${(found.at[axis] - rings[k].at[axis]).toFixed(1)}px`));
  });
}

/** How much two boxes have in common, in pixels. */
const common = (one, other) =>
  [0, 1]
    .map((axis) => Math.max(0, one.half[axis] + other.half[axis] - Math.abs(one.at[axis] - other.at[axis])))
    .reduce((x, y) => x * y);

/** The tip whose middle is nearest the pointer: what can be pressed around one may lie over another. */
function nearest(tips, { clientX, clientY }) {
  const gaps = tips.map(({ node }) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return Math.hypot(clientX - left - width / 2, clientY - top - height / 2);
  });
  return tips[gaps.indexOf(Math.min(...gaps))];
}

/** The tip of one arrow, to be dragged or moved by keys. */
function tip(view, s, place, pressed) {
  const asks = place.r === undefined;
  const [ring, token] = [el("span", "ring"), el("span", "token", place.name)];
  let held = null; // while the pointer is down: from the pointer to the tip
  const move = (to, digits, most = EDGE) =>
    view.change(place, place.put(to.map((x) => Math.max(-most, Math.min(most, Number(x.toFixed(digits)))))));
  const grab = (event) => {
    node.focus();
    view.fresh = true;
    node.setPointerCapture(event.pointerId);
    view.held = true;
    const at = under(view, event, node);
    held = place.at(view.now).map((x, axis) => x - at[axis]);
  };
  const node = el(
    s ? "div" : "button",
    {
      ...(s === 0 && { type: "button" }),
      class: asks ? "tip asks" : "tip",
      onpointerdown(event) {
        if (event.button || !event.isPrimary) return;
        event.preventDefault(); // the focus goes to the nearest tip
        pressed(event);
      },
      onpointermove(event) {
        if (held)
          move(
            under(view, event, node).map((x, axis) => x + held[axis]),
            1,
            view.edge,
          );
      },
      onlostpointercapture: () => {
        held = null;
        view.drop();
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
    ring,
    token,
  );
  const show = (now) => {
    const [x, y] = place.at(now).map((part) => part / (view.edge + ROOM) / 2);
    setVar(node, "x", (0.5 + x).toFixed(4));
    setVar(node, "y", (0.5 - y).toFixed(4));
    setVar(node, "size", asks ? 0.3 : now.weights[s][place.r].toFixed(3));
    node.setAttribute("aria-label", `${place.label} ${place.text(now)}`);
  };
  return { node, show, grab, token, radius: () => ring.offsetWidth / 2 };
}

/** Where in the plane the pointer is. */
function under({ edge }, { clientX, clientY }, node) {
  const { left, bottom, width, height } = node.parentNode.getBoundingClientRect();
  return [(clientX - left) / width, (bottom - clientY) / height].map((x) => (2 * x - 1) * (edge + ROOM));
}
