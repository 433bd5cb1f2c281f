// Pairs as clocks: the key's hand is upright, the query's has turned clockwise. The band shows the
// angles of training; a hand outside of it is marked, in colour and in words.

import { times } from "../core/maths/lists.js";
import { el, mark, setText, svg } from "../core/view/dom.js";
import { ROUND } from "./maths.js";
import { degrees } from "./words.js";

const MOST = 8; // clocks that are drawn
const BAND = 0.82; // its radius

/** The pairs that are drawn: all, or some evenly chosen, the chosen one among them. */
export function shownPairs(count, chosen) {
  if (count <= MOST) return times(count, (i) => i);
  const some = times(MOST, (place) => Math.round((place * (count - 1)) / (MOST - 1)));
  const nearest = some.reduce((best, i) => (Math.abs(i - chosen) < Math.abs(best - chosen) ? i : best));
  return some.map((i) => (i === nearest ? chosen : i));
}

const spot = (angle, r) => `${(r * Math.sin(angle)).toFixed(3)} ${(-r * Math.cos(angle)).toFixed(3)}`;

/** From upright clockwise to an angle; a whole turn is a circle. */
function arc(to) {
  const half = Math.min(to, ROUND - 1e-3) / 2;
  const leg = (angle) => `A${BAND} ${BAND} 0 0 1 ${spot(angle, BAND)}`;
  return `M${spot(0, BAND)}${leg(half)}${leg(2 * half)}`;
}

export function dials() {
  const some = times(MOST, dial);
  const node = el(
    "div",
    "half",
    el("p", "title", "angle of query against key, pair by pair"),
    el(
      "div",
      "dials",
      some.map((one) => one.node),
    ),
  );
  const show = (now) => {
    const pairs = shownPairs(now.hands.length, now.pair);
    some.forEach((one, place) => one.show(now, pairs[place]));
  };
  return { node, show };
}

function dial() {
  const [band, end, key, hand] = ["band", "end", "key", "hand"].map((name) => svg("path", name));
  const words = el("p");
  key.setAttribute("d", `M0 0L${spot(0, 1)}`);
  const face = svg("circle", { r: 1 });
  const picture = svg("svg", { viewBox: "-1.1 -1.1 2.2 2.2", "aria-hidden": "true" }, face, band, end, key, hand);
  const node = el("div", {}, picture, words);
  const show = ({ hands, known, pair }, i) => {
    node.hidden = i === undefined;
    if (node.hidden) return;
    const { angle, outside } = hands[i];
    mark(node, "on", i === pair);
    mark(node, "outside", outside);
    band.setAttribute("d", arc(known[i]));
    end.setAttribute("d", known[i] < ROUND ? `M${spot(known[i], 0.66)}L${spot(known[i], 1)}` : "");
    hand.setAttribute("d", `M0 0L${spot(angle, 1)}`);
    setText(words, `pair ${i}: ${degrees(angle)}\n${outside ? "never met" : "met"}`);
  };
  return { node, show };
}
