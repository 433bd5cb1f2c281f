// A plane with arrows from its origin, whose tips are moved by pointer and keys: for the kinds that
// draw one. Its view holds `span`, the ends of both axes; `now`; `held`, whether a pointer has a tip,
// and drop() for when it lets go; `fresh`, whether a new change begins; change(place, changes). A
// place is {name, label, at(now), put(values), text(now)}.

import { times } from "../core/maths/lists.js";
import { el, onKeys, setVar } from "../core/view/dom.js";

export const UNIT = 40; // of a drawing
export const FARTHEST = 4; // no vector goes farther
const ROOM = 0.5; // for the tips at the very edge

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** How wide and high a plane is, in its own units. @type {(span: number[]) => number} */
export const widthOf = ([low, high]) => high - low + 2 * ROOM;

/** A place in a drawing of the plane. @type {(span: number[], at: number[]) => number[]} */
export const spot = ([low, high], [x, y]) => [(x - low + ROOM) * UNIT, (high + ROOM - y) * UNIT];

/** A path along some places. @type {(span: number[], ...way: number[][]) => string} */
export const stroke = (span, ...way) =>
  `M${way
    .map((at) =>
      spot(span, at)
        .map((x) => x.toFixed(1))
        .join(" "),
    )
    .join("L")}`;

/** Two lines across the plane, at x and at y. @type {(span: number[], at: number) => string} */
export const lines = (span, at) =>
  stroke(span, [at, span[0]], [at, span[1]]) + stroke(span, [span[0], at], [span[1], at]);

/** @type {(span: number[], end: number[]) => string} */
export function arrow(span, [x, y]) {
  const way = Math.atan2(y, x);
  const long = widthOf(span) / 28;
  const barb = (turn) => stroke(span, [x - Math.cos(way + turn) * long, y - Math.sin(way + turn) * long], [x, y]);
  return stroke(span, [0, 0], [x, y]) + (x || y ? barb(0.45) + barb(-0.45) : "");
}

/** Put an element where a vector ends. @type {(node: any, span: number[], at: number[]) => void} */
export function putAt(node, span, [x, y]) {
  const share = (part) => ((part + ROOM) / widthOf(span)).toFixed(4);
  setVar(node, "x", share(x - span[0]));
  setVar(node, "y", share(span[1] - y));
}

const TURNS = [0, 1, -1, 2, -2, 3, -3, 4]; // eighths of a circle
const PLACES = [0, 7] // px from the tip
  .flatMap((out) => TURNS.map((turn, cost) => ({ turn, out, cost: cost + out })))
  .sort((one, other) => one.cost - other.cost);
const RING = { least: 8, more: 20 }; // px across: of a tip that weighs nothing, and what weight 1 adds
const STEPS = times(16, (step) => (step + 1) / 16); // of an arrow

/** A name's width and height: the browser lays all out for them. @type {(tip: {token: any}) => number[]} */
export const sizeOf = ({ token }) => [token.offsetWidth, token.offsetHeight];

/**
 * Write each tip's name where it lies on no circle, arrow or name, at best behind its arrow's tip. `sizes`
 * are the names', from `sizeOf`.
 * @type {(span: number[], width: number, tips: any[], ends: number[][], sizes: number[][]) => void}
 */
export function nameTips(span, width, tips, ends, sizes) {
  if (!width) return; // not in the page, or folded away
  const pixel = width / widthOf(span) / UNIT;
  const centre = (end) => spot(span, end).map((x) => x * pixel);
  const rings = tips.map(({ radius }, k) => ({ at: centre(ends[k]), half: [radius(), radius()] }));
  const along = ends.flatMap(([x, y]) => STEPS.map((share) => ({ at: centre([x * share, y * share]), half: [2, 2] })));
  const taken = [...rings, ...along];
  tips.forEach(({ token }, k) => {
    const tip = rings[k].at;
    const half = [sizes[k][0] / 2 + 1, sizes[k][1] / 2 - 1];
    const straight = Math.atan2(ends[k][1], ends[k][0]);
    let best = null;
    for (const { turn, out, cost } of PLACES) {
      if (best && best.cost <= cost) break; // no later one costs less
      const way = straight + (turn * Math.PI) / 4;
      const [cos, sin] = [Math.cos(way), -Math.sin(way)];
      // so far from the tip that the name's edge is beyond the circle's
      const far =
        rings[k].half[0] + out + Math.min(half[0] / (Math.abs(cos) || 1e-9), half[1] / (Math.abs(sin) || 1e-9)) + 1;
      const at = [cos, sin].map((part, axis) =>
        Math.max(half[axis], Math.min(width - half[axis], tip[axis] + part * far)),
      );
      const name = { at, half };
      const total = taken.reduce((sum, other) => sum + common(name, other), cost);
      if (!best || total < best.cost) best = { ...name, cost: total };
    }
    taken.push(best);
    ["dx", "dy"].forEach((side, axis) => setVar(token, side, `${(best.at[axis] - tip[axis]).toFixed(1)}px`));
  });
}

/** How much two boxes, by their middles and half their sides, have in common, in pixels. */
function common(one, other) {
  const across = one.half[0] + other.half[0] - Math.abs(one.at[0] - other.at[0]);
  const down = one.half[1] + other.half[1] - Math.abs(one.at[1] - other.at[1]);
  return across > 0 && down > 0 ? across * down : 0;
}

/** The tip whose middle is nearest the pointer: what can be pressed around one may lie over another. */
function nearest(tips, { clientX, clientY }) {
  const gaps = tips.map(({ node }) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return Math.hypot(clientX - left - width / 2, clientY - top - height / 2);
  });
  return tips[gaps.indexOf(Math.min(...gaps))];
}

/**
 * A tip's circle and name, and how large the circle is drawn: `size` is from 0 to 1.
 * @type {(name: string) => {ring: any, token: any, radius: () => number, grow: (size: number) => void}}
 */
export function ringed(name) {
  const [ring, token] = [el("span", "ring"), el("span", "token", name)];
  let across = 0;
  const grow = (size) => {
    across = RING.least + RING.more * size;
    setVar(ring, "across", `${across.toFixed(1)}px`);
  };
  return { ring, token, radius: () => across / 2, grow };
}

/**
 * The tip of one arrow, to be dragged or moved by keys; `tips()` are all of its plane, `size` is of
 * its circle. Where it is only the pointer's, it is no button.
 * @type {(view: any, place: any, how: {tips: () => any[], size: (now: any) => number, asks?: boolean, button?: boolean}) => any}
 */
export function tip(view, place, { tips, size, asks = false, button = true }) {
  const { ring, token, radius, grow } = ringed(place.name);
  let held = null; // while the pointer is down: from the pointer to the tip
  const move = (to, digits, [low, high] = [-FARTHEST, FARTHEST]) =>
    view.change(place, place.put(to.map((x) => Math.max(low, Math.min(high, Number(x.toFixed(digits)))))));
  const grab = (event) => {
    node.focus();
    view.fresh = true;
    node.setPointerCapture(event.pointerId);
    view.held = true;
    const at = under(view.span, event, node);
    held = place.at(view.now).map((x, axis) => x - at[axis]);
  };
  const node = el(
    button ? "button" : "div",
    {
      ...(button && { type: "button" }),
      class: asks ? "tip asks" : "tip",
      onpointerdown(event) {
        if (event.button || !event.isPrimary) return;
        event.preventDefault(); // the focus goes to the nearest tip
        nearest(tips(), event).grab(event);
      },
      onpointermove(event) {
        if (!held) return;
        const at = under(view.span, event, node);
        move(
          at.map((x, axis) => x + held[axis]),
          1,
          view.span,
        );
      },
      onlostpointercapture: () => {
        held = null;
        view.drop();
      },
      onkeydown: onKeys(({ key, shiftKey }) => {
        const way = WAYS[key];
        const far = shiftKey ? 1 : 0.1;
        if (!way) return false;
        const to = place.at(view.now).map((x, axis) => x + way[axis] * far);
        return move(to, 3);
      }),
    },
    ring,
    token,
  );
  const show = (now) => {
    putAt(node, view.span, place.at(now));
    grow(size(now));
    node.setAttribute("aria-label", `${place.label} ${place.text(now)}`);
  };
  return { node, show, grab, token, radius };
}

/** Where in the plane the pointer is. */
function under(span, { clientX, clientY }, node) {
  const { left, bottom, width, height } = node.parentNode.getBoundingClientRect();
  return [(clientX - left) / width, (bottom - clientY) / height].map((share) => share * widthOf(span) + span[0] - ROOM);
}
