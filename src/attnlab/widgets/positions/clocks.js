// Pairs of components as clocks: the pair (sin, cos) is the tip of a hand that starts upright and
// turns clockwise. A shift by k turns each hand by its own angle, wherever it stood before.

import { times } from "../core/maths/lists.js";
import { el, mark, note, setText, svg } from "../core/view/dom.js";
import { short } from "../core/view/text.js";
import { farthest, turned } from "./maths.js";

const MOST = 8; // clocks that are drawn

/** The pairs that are drawn: all, or some evenly chosen, the chosen one among them. */
export function shownPairs(count, chosen) {
  if (count <= MOST) return times(count, (i) => i);
  const some = times(MOST, (place) => Math.round((place * (count - 1)) / (MOST - 1)));
  const nearest = some.reduce((best, i) => (Math.abs(i - chosen) < Math.abs(best - chosen) ? i : best));
  return some.map((i) => (i === nearest ? chosen : i));
}

const spot = (angle, r) => `${(r * Math.sin(angle)).toFixed(3)} ${(-r * Math.cos(angle)).toFixed(3)}`;

/** From one angle clockwise to another; a whole turn and more is a circle. */
function arc(from, by, r) {
  const half = Math.min(by, 2 * Math.PI - 1e-3) / 2;
  const leg = (angle) => `A${r} ${r} 0 0 1 ${spot(angle, r)}`;
  return `M${spot(from, r)}${leg(from + half)}${leg(from + 2 * half)}`;
}

export function clocks(alone) {
  const some = times(MOST, clock);
  const under = note();
  const node = el(
    "div",
    "half",
    el("p", "title", "pairs of components as clocks"),
    el(
      "div",
      "dials",
      some.map((one) => one.node),
    ),
    alone ? [] : under,
  );
  const show = (now) => {
    const pairs = shownPairs(now.d / 2, now.pair);
    some.forEach((one, place) => one.show(now, pairs[place]));
    const gap = farthest(turned(now.rowOf(now.p), now.omega, now.k), now.rowOf(now.later));
    setText(
      under,
      `Thin hand: position ${now.p}; thick: ${now.later}. PE[${now.p}], turned by k = ${now.k}, is ` +
        `PE[${now.later}]; largest difference: ${gap ? gap.toExponential(0) : 0}.`,
    );
  };
  return { node, show };
}

function clock() {
  const [turn, from, to] = ["turn", "from", "to"].map((name) => svg("path", name));
  const words = el("p");
  const node = el(
    "div",
    {},
    svg("svg", { viewBox: "-1.1 -1.1 2.2 2.2", "aria-hidden": "true" }, svg("circle", { r: 1 }), turn, from, to),
    words,
  );
  const show = ({ omega, p, k, later, pair }, i) => {
    node.hidden = i === undefined;
    if (node.hidden) return;
    mark(node, "on", i === pair);
    const speed = omega[i];
    from.setAttribute("d", `M0 0L${spot(p * speed, 1)}`);
    to.setAttribute("d", `M0 0L${spot(later * speed, 1)}`);
    turn.setAttribute("d", k ? arc(p * speed, k * speed, 0.5) : "");
    setText(words, `pair ${i}\n+ ${short((k * speed * 180) / Math.PI)}°`);
  };
  return { node, show };
}
