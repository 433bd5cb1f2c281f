// Two panels over the steps: the loss, and the share of right guesses. Pale: runs that are done.

import { times, within } from "../../core/maths/lists.js";
import { mark, svg } from "../../core/view/dom.js";
import { LAST } from "./course.js";

const PANEL = { left: 34, right: 4, top: 20, high: 104, foot: 20 };
const TALL = PANEL.top + PANEL.high + PANEL.foot;
const MOST = 3; // of a loss that is drawn where it is; what is above lies on the upper edge
const GAP = 13; // between two names

/** Where a panel has its steps and its values, the greatest of which is `most`. */
function scales(width, top, most) {
  const wide = width - PANEL.left - PANEL.right;
  const bottom = top + PANEL.top + PANEL.high;
  return {
    x: (step) => PANEL.left + (step / LAST) * wide,
    y: (value) => bottom - (within(value, most) / most) * PANEL.high,
    right: width - PANEL.right,
    top: top + PANEL.top,
    bottom,
  };
}

const words = (props, text) => svg("text", props, text);
const round = (value) => value.toFixed(1);

/** A line through the points that have a value. */
function path(at, points, value) {
  const known = points.filter((one) => value(one) !== null && Number.isFinite(value(one)));
  return known.length ? `M${known.map((one) => `${round(at.x(one[0]))} ${round(at.y(value(one)))}`).join("L")}` : "";
}

function axes(at, title, ticks) {
  return [
    words({ x: 0, y: at.top - 8, class: "title" }, title),
    ...ticks.map(([value, label]) => [
      svg("path", { class: "grid", d: `M${PANEL.left} ${round(at.y(value))}H${at.right}` }),
      words({ x: PANEL.left - 5, y: at.y(value) + 4, "text-anchor": "end" }, label),
    ]),
    ...[0, LAST / 2, LAST].map((step, place) =>
      words(
        { x: at.x(step), y: at.bottom + 15, "text-anchor": ["start", "middle", "end"][place] },
        step === LAST ? `${step} steps` : String(step),
      ),
    ),
  ].flat();
}

/** Places for names that would stand at these heights: none closer than a line to another. */
export function apart(heights, low, high) {
  const order = heights.map((_, place) => place).sort((a, b) => heights[a] - heights[b]);
  const found = [...heights];
  let least = low;
  for (const place of order) {
    found[place] = Math.max(found[place], least);
    least = found[place] + GAP;
  }
  const over = Math.max(0, least - GAP - high);
  return found.map((y) => y - over);
}

/** The names of runs that are done, near their ends; the present one's, till then, beside its own. */
function names(at, old, mine) {
  const last = mine.points[mine.points.length - 1];
  const done = mine.recorded || last?.[0] === LAST;
  const known = old.filter(({ points }) => points.some(([, loss]) => loss !== null));
  const ends = known.map(({ points }) => at.y(points[points.length - 1][1]) - 5);
  const texts = apart(ends, at.top + 8, at.bottom - 3).map((y, place) => {
    const text = words({ x: at.right - 2, y: round(y), "text-anchor": "end" }, known[place].name);
    mark(text, "mine", done && known[place].name === mine.name);
    return text;
  });
  if (done || mine.points.length < 2 || last[1] === null) return texts;
  const near = last[0] > LAST / 2;
  const place = { x: round(at.x(last[0]) + (near ? 0 : 4)), y: round(Math.min(at.bottom - 3, at.y(last[1]) + 15)) };
  return [...texts, words({ ...place, "text-anchor": near ? "end" : "start", class: "mine" }, "this run")];
}

/** The picture; `show` takes the width, the runs that are done, the present one, and the loss of an even guess. */
export function curves() {
  const node = svg("svg", { "aria-hidden": "true" });
  const show = ({ width, old, mine, even }) => {
    const [loss, right] = [scales(width, 0, MOST), scales(width, TALL, 1)];
    const { points } = mine;
    const lines = (at, place) =>
      old.map((run) => svg("path", { class: "old", d: path(at, run.points, (one) => one[place]) }));
    node.setAttribute("viewBox", `0 0 ${width} ${2 * TALL}`);
    node.replaceChildren(
      ...axes(
        loss,
        "loss",
        times(MOST + 1, (value) => [value, String(value)]),
      ),
      svg("path", { class: "even", d: `M${PANEL.left} ${round(loss.y(even))}H${loss.right}` }),
      words({ x: PANEL.left + 3, y: loss.y(even) - 4, class: "faint" }, even > 0.2 ? "an even guess" : ""),
      ...axes(right, "share right", [
        [0, "0"],
        [0.5, "0.5"],
        [1, "1"],
      ]),
      ...lines(loss, 1),
      ...lines(right, 2),
      svg("path", { class: "mine", d: path(loss, points, (one) => one[1]) }),
      svg("path", { class: "mine", d: path(right, points, (one) => one[2]) }),
      svg("path", { class: "mine fresh", d: path(right, points, (one) => one[3]) }),
      ...names(loss, old, mine),
    );
  };
  return { node, show };
}
