// A memory of 2 × 2 numbers: the reader writes values under keys, and sees what each key reads back.

import { times } from "../core/maths/lists.js";
import { slide } from "../core/view/controls.js";
import {
  alertLine,
  changed,
  choice,
  el,
  nodes,
  numberBox,
  reset,
  setText,
  statusLine,
  svg,
  table,
  tick,
  together,
  twin,
} from "../core/view/dom.js";
import { stepper } from "../core/view/stepper.js";
import { read } from "../core/view/store.js";
import { plain, vector } from "../core/view/text.js";
import { written } from "./maths.js";
import { NAMES, rows, said, WRITES } from "./words.js";

const data = ["initial"];
const state = ["values", "third", "angle", "length", "write", "decay", "beta", "step"];

const SIDE = 100; // of a drawing
const MOST = 1e6; // of a value

function build(store) {
  /** @type {any} */
  const view = { store, alert: alertLine(), status: statusLine() };
  const last = () => (store.get("third") ? 3 : 2);
  const at = () => Math.min(store.get("step"), last());
  const told = () => `${at()} of ${last()} pairs written`;
  const along = stepper({ what: "writes", at, last, go: (step) => store.set({ step }), told });
  const now = () => {
    const given = read(store, state);
    return { ...given, ...written(given), step: at() };
  };
  const folded = twin("Write by write", () => rows(now()));
  const cards = times(3, (j) => card(view, j));
  const parts = [settings(view), keyPlane(), matrix(), along, folded, ...cards];
  const [top, plane, S, steps] = nodes(parts);
  const side = el("div", "side", steps, S, view.status);
  const asked = el("div", "asked", nodes(cards));
  view.node = el("div", {}, top, view.alert.node, el("div", "main", plane, side), asked, folded.node);
  view.draw = () => {
    const found = now();
    parts.forEach((part) => part.show(found));
    setText(view.status, said(found));
  };
  return view;
}

function settings(view) {
  const { store, alert } = view;
  const by = (name, label, max = 1, more = {}) =>
    slide({ store, tell: alert.tell, name, label, min: 0, max, least: 0, most: max, ...more });
  const how = choice("written by", Object.values(WRITES), (place) => store.set({ write: Object.keys(WRITES)[place] }));
  const third = tick("a third key", (on) => store.set({ third: on, step: on ? 3 : Math.min(store.get("step"), 2) }));
  const angle = by("angle", "angle of k₃, in degrees", 360, { value: Math.round });
  angle.node.querySelector("input").step = "1"; // an arrow key moves it by a degree
  /** @type {(part: any, when: (now: any) => boolean) => any} */
  const only = ({ node, show }, when) => ({
    node,
    show: (now) => {
      node.hidden = !when(now);
      show();
    },
  });
  const parts = [
    { node: how.node, show: ({ write }) => how.show(Object.keys(WRITES).indexOf(write)) },
    { node: third.node, show: (now) => third.show(now.third) },
    only(angle, (now) => now.third),
    only(by("length", "length of k₃", 2), (now) => now.third),
    by("decay", "decay g"),
    only(by("beta", "β"), ({ write }) => write === "delta"),
  ];
  return together(el("div", "controls hands", nodes(parts), reset(view, "memory")), parts);
}

/** Where vectors lie in a drawing that shows all of these: a function of a vector. */
function fitted(all) {
  const flat = all.flat();
  const [low, high] = [Math.min(0, ...flat), Math.max(0, ...flat)];
  const one = (0.76 * SIDE) / (high - low || 1);
  const from = 0.12 * SIDE;
  return ([x, y]) => [from + (x - low) * one, SIDE - from - (y - low) * one];
}

const way = (...points) => `M${points.map((at) => at.map((x) => x.toFixed(2)).join(" ")).join("L")}`;

/** An arrow from one point to another; one without a length is a dot. */
function arrow(from, to) {
  const [x, y] = to;
  const turn = Math.atan2(y - from[1], x - from[0]);
  const long = Math.min(6, Math.hypot(x - from[0], y - from[1]));
  const barb = (by) => [x - long * Math.cos(turn + by), y - long * Math.sin(turn + by)];
  return way(from, to) + way(barb(0.5), to, barb(-0.5));
}

/** A drawing of axes and paths of these classes. */
function plane(classes, ...more) {
  const [axes, ...paths] = ["axes", ...classes].map((name) => svg("path", name));
  const node = svg("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, "aria-hidden": "true" }, axes, more, paths);
  const show = (at, shapes) => {
    const [x, y] = at([0, 0]);
    axes.setAttribute("d", `M0 ${y}H${SIDE}M${x} 0V${SIDE}`);
    shapes.forEach((shape, each) => paths[each].setAttribute("d", shape));
  };
  return { node: el("div", "plane", node), show };
}

/** The keys, and the circle of length 1; through φ also what they were. */
function keyPlane() {
  const circle = svg("circle", {});
  const names = NAMES.map((name) => svg("text", {}, name));
  const drawn = plane(["was", "key"], circle, names);
  const show = ({ plain: keys, keys: now, write }) => {
    const at = fitted([...keys, ...now, [1, 1]]);
    const origin = at([0, 0]);
    const arrows = (all) => all.map((key) => arrow(origin, at(key))).join("");
    drawn.show(at, [write === "phi" ? arrows(keys) : "", arrows(now)]);
    [origin[0], origin[1], at([1, 0])[0] - origin[0]].forEach((x, c) => circle.setAttribute(["cx", "cy", "r"][c], x));
    names.forEach((name, j) => {
      const key = now[j] ?? [0, 0];
      setText(name, now[j] ? NAMES[j] : "");
      // right of its arrow, left of it, before it: three names that never meet
      const turn = Math.atan2(key[1], key[0]) + [-1.2, 1.2, 0][j];
      const [x, y] = at(key);
      name.setAttribute("x", x + 8 * Math.cos(turn));
      name.setAttribute("y", y - 8 * Math.sin(turn) + 3);
    });
  };
  const node = el("div", "keys", el("p", "title", "keys"), drawn.node);
  return { node, show };
}

/** S, as it is now. */
function matrix() {
  const cells = times(4, () => el("span"));
  const drawn = table(
    ["S", "number 1", "number 2"],
    [
      ["row 1", ...cells.slice(0, 2)],
      ["row 2", ...cells.slice(2)],
    ],
  );
  const show = ({ steps, step }) =>
    cells.forEach((cell, c) => setText(cell, plain(step ? steps[step - 1].S[c >> 1][c % 2] : 0)));
  return { node: el("div", "scroll", drawn), show };
}

/** One key asked: the value that was written under it, to be typed, and what it reads. */
function card({ store, alert }, j) {
  const drawn = plane(["value", "output", "gap"]);
  const boxes = times(2, (c) =>
    numberBox({
      label: `value ${j + 1}, number ${c + 1}`,
      most: MOST,
      change: (value) => store.set(changed(store, "values", j, c, value)),
      tell: alert.tell,
    }),
  );
  const [reads, off] = [el("p", "reads"), el("p")];
  const title = el("p", "title", `${NAMES[j]} asked`);
  const typed = el("p", "typed", `v${NAMES[j][1]} `, nodes(boxes));
  const node = el("div", {}, title, drawn.node, typed, reads, off);
  const show = ({ values, steps, step, keys }) => {
    node.hidden = j >= keys.length;
    if (node.hidden) return;
    boxes.forEach((box, c) => box.show(values[j][c]));
    const found = j < step ? steps[step - 1].asked[j] : null;
    const at = fitted(
      [...values, ...(step ? steps[step - 1].asked.map((one) => one.read) : [])].slice(0, keys.length + 3),
    );
    const [origin, value] = [at([0, 0]), at(values[j])];
    const read = found && at(found.read);
    const shapes = found ? [arrow(origin, read), found.off ? way(value, read) : ""] : ["", ""];
    drawn.show(at, [arrow(origin, value), ...shapes]);
    setText(reads, found ? `reads ${vector(found.read)}` : "not written yet");
    setText(off, !found ? "" : found.off ? `off by ${plain(found.off)}` : "its value");
    off.className = found?.off ? "attnbook-error" : "attnbook-right";
  };
  return { node, show };
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "A memory of 2 × 2 numbers", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
