// A memory of 2 × 2 numbers: the reader writes values under keys, and sees what each key reads back.

import { times } from "../core/maths/lists.js";
import { slide } from "../core/view/controls.js";
import {
  alertLine,
  changed,
  choice,
  el,
  mark,
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
    return { ...given, ...written(given, at()), step: at() };
  };
  const folded = twin("Write by write", () => rows(now()));
  const cards = times(3, (j) => card(view, j));
  const parts = [settings(view), keyPlane(), matrix(), along, folded, ...cards];
  const [top, plane, S, steps] = nodes(parts);
  const all = el("div", "all", plane, nodes(cards));
  view.node = el(
    "div",
    {},
    top,
    view.alert.node,
    all,
    el("div", "main", el("div", {}, steps, S), view.status),
    folded.node,
  );
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
  const names = ["the sum", "the delta rule", "the sum, through φ"];
  const how = choice("written by", names, (place) => store.set({ write: WRITES[place] }));
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
    { node: how.node, show: ({ write }) => how.show(WRITES.indexOf(write)) },
    { node: third.node, show: (now) => third.show(now.third) },
    only(angle, (now) => now.third),
    only(by("length", "length of k₃", 2), (now) => now.third),
    by("decay", "gate g"),
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

/** A drawing of axes, paths of these classes and some names. */
function plane(classes, names = []) {
  const [axes, ...paths] = ["axes", ...classes].map((name) => svg("path", name));
  const node = svg("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, "aria-hidden": "true" }, axes, paths, ...names);
  const show = (at, shapes) => {
    const [x, y] = at([0, 0]);
    axes.setAttribute("d", `M0 ${y}H${SIDE}M${x} 0V${SIDE}`);
    shapes.forEach((shape, each) => paths[each].setAttribute("d", shape));
  };
  return { node: el("div", "plane", node), show };
}

/** The keys, through φ where that is chosen. */
function keyPlane() {
  const names = NAMES.map(() => svg("text", {}));
  const title = el("p");
  const drawn = plane(["of-key"], names);
  const show = ({ keys, write }) => {
    const at = fitted(keys);
    const third = keys[2] ?? [1, 1];
    setText(title, write === "phi" ? "keys, through φ" : "keys");
    drawn.show(at, [keys.map((key) => arrow(at([0, 0]), at(key))).join("")]);
    names.forEach((name, j) => {
      const key = keys[j];
      setText(name, key ? NAMES[j] : "");
      if (!key) return;
      // k₁ and k₂ have theirs on the side where k₃ is not, k₃ before its tip
      const side = key[0] * third[1] < key[1] * third[0] ? 1.2 : -1.2;
      const turn = Math.atan2(key[1], key[0]) + (j < 2 ? side : 0);
      const [x, y] = at(key);
      name.setAttribute("x", x + 8 * Math.cos(turn));
      name.setAttribute("y", y - 8 * Math.sin(turn) + 3);
    });
  };
  return { node: el("div", {}, title, drawn.node), show };
}

/** S, as it is now. */
function matrix() {
  const cells = times(2, () => times(2, () => el("span")));
  const drawn = table(
    ["S", "1", "2"],
    cells.map((row, r) => [String(r + 1), ...row]),
  );
  const show = ({ S }) => cells.forEach((row, r) => row.forEach((cell, c) => setText(cell, plain(S[r][c]))));
  return { node: el("div", "scroll", drawn), show };
}

/** One key asked: the value that was written under it, to be typed, and what it reads. */
function card({ store, alert }, j) {
  const drawn = plane(["of-value", "of-output", "gap"]);
  const boxes = times(2, (c) =>
    numberBox({
      label: `value ${j + 1}, number ${c + 1}`,
      most: MOST,
      change: (value) => store.set(changed(store, "values", j, c, value)),
      tell: alert.tell,
    }),
  );
  const [reads, off] = [el("p", "reads"), el("p", "right")];
  const typed = el("p", "typed", `v${NAMES[j][1]} `, nodes(boxes));
  const node = el("div", {}, el("p", {}, `${NAMES[j]} asked`), drawn.node, typed, reads, off);
  const show = ({ values, asked, step, keys }) => {
    node.hidden = j >= keys.length;
    if (node.hidden) return;
    boxes.forEach((box, c) => box.show(values[j][c]));
    const at = fitted(asked.flatMap((one, i) => [one.read, values[i]]));
    const [origin, value, back] = [[0, 0], values[j], asked[j].read].map(at);
    const known = j < step;
    const far = known && asked[j].off;
    drawn.show(at, [arrow(origin, value), known ? arrow(origin, back) : "", far ? way(value, back) : ""]);
    setText(reads, known ? `reads ${vector(asked[j].read)}` : "not written yet");
    setText(off, known ? (far ? `off by ${plain(far)}` : "its value") : "");
    mark(off, "off", far);
  };
  return { node, show };
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "A memory of 2 × 2 numbers", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
