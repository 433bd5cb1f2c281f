// A plane for each score: the query and the keys as arrows from its middle, whose tips are moved by
// pointer and keys, and through each key the line on which a key would get the same score. Dashed are
// the first query and the circles that it gives.

import { times } from "../core/maths/lists.js";
import { el, nodes, setText, setVar, svg } from "../core/view/dom.js";
import { arrow, FARTHEST, lines, nameTips, sizeOf, spot, stroke, tip, UNIT, widthOf } from "../parts/plane.js";
import { levelLine, sampled } from "./maths.js";

const CELLS = 32;

const path = (name) => svg("path", { class: name });

/** A line from the middle to an end, in ten dashes. */
const dashed = (span, end) =>
  times(10, (k) => stroke(span, ...[k, k + 0.5].map((part) => end.map((x) => (x * part) / 10)))).join("");

/** The four planes: a hand in one of them moves them all. */
export function planes(view, many) {
  view.held = false; // a tip
  view.span = [0, 0];
  const parts = times(many, (s) => plane(view, s));
  const show = (now) => {
    const farthest = Math.ceil(Math.max(1, ...[now.query, ...now.key].flat().map(Math.abs)));
    // they grow with the longest vector, but not under a hand, and never shrink
    if (!view.held && view.span[1] < FARTHEST && farthest >= view.span[1]) {
      const edge = Math.min(FARTHEST, farthest + 1);
      view.span = [-edge, edge];
    }
    parts.forEach((part) => part.show(now));
  };
  const fit = () => parts.forEach((part) => part.fit());
  view.drop = () => {
    view.held = false;
    show(view.now);
  };
  return { parts, show, fit };
}

function plane(view, s) {
  const levels = path("level");
  const [grid, axes] = [path("grid"), path("axes")];
  const [asks, arrows] = [path("asks"), path("arrow")];
  const tips = view.places.map((place) => {
    const asks = place.r === undefined;
    const size = (now) => (asks ? 0.3 : now.weights[s][place.r]);
    return tip(view, place, { tips: () => tips, size, asks, button: s === 0 });
  });
  const labels = times(s ? 0 : 2, () => svg("text", {})); // they are alike in all
  const drawing = svg("svg", { "aria-hidden": "true" }, grid, axes, labels, levels, arrows, asks);
  const node = el("div", { class: "plane", role: "group", "aria-label": "vectors, drawn" }, drawing, nodes(tips));
  if (s) node.setAttribute("aria-hidden", "true"); // its tips are the pointer's: the first plane's are all
  let drawn = 0;
  let [width, sizes] = [0, []];
  const show = (now) => {
    const { span } = view;
    const ends = view.places.map((place) => place.at(now));
    if (drawn !== span[1]) widen(span);
    const points = sampled(now.by[s], span[1], CELLS);
    const pieces = (view.alone ? [] : now.scores[s]).flatMap((score) => levelLine(points, score));
    levels.setAttribute("d", pieces.map((piece) => stroke(span, ...piece)).join(""));
    const [first, ...others] = ends.map((end) => arrow(span, end));
    asks.setAttribute("d", first + dashed(span, now.first.query));
    arrows.setAttribute("d", others.join(""));
    tips.forEach((one) => one.show(now));
    now.first.weights[s].forEach((weight, j) => setVar(tips[j + 1].node, "was", weight.toFixed(4)));
    nameTips(span, width, tips, ends, sizes);
  };
  const fit = () => {
    [width, sizes] = [node.clientWidth, tips.map(sizeOf)];
  };
  function widen(span) {
    const edge = span[1];
    drawn = edge;
    drawing.setAttribute("viewBox", `0 0 ${widthOf(span) * UNIT} ${widthOf(span) * UNIT}`);
    axes.setAttribute("d", lines(span, 0));
    grid.setAttribute("d", times(2 * edge + 1, (k) => lines(span, k - edge)).join(""));
    labels.forEach((text, axis) => {
      const [x, y] = spot(span, axis ? [0, edge] : [edge, 0]);
      text.setAttribute("x", x + 3);
      text.setAttribute("y", axis ? y - 4 : y + 24);
      setText(text, String(edge));
    });
  }
  return { node, show, fit };
}
