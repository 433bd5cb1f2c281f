// Speculative decoding: the reader changes how good and how many the guesses are, and sees what they gain.

import { times } from "../core/maths/lists.js";
import { slide } from "../core/view/controls.js";
import { alertLine, el, nodes, reset, setText, statusLine, svg, together, twin } from "../core/view/dom.js";
import { fixed, plain } from "../core/view/text.js";
import { gain, reached, tokens } from "./maths.js";

const data = ["initial"];
const state = ["alpha", "guesses", "cost"];

const MOST = 16; // guesses in a call
const TOPS = [2, 4, 8, 18]; // of the gain's axis
const [W, H] = [360, 190];
const BOX = { left: 30, right: W - 8, top: 10, bottom: H - 34 };
const STEP = (BOX.right - BOX.left) / (MOST + 1);
const x = (n) => BOX.left + (n + 0.5) * STEP;

function build(store) {
  const view = { store, alert: alertLine(), status: statusLine() };
  const parts = [settings(view), bars(), curve(), table(store)];
  const [sliders, left, right, folded] = nodes(parts);
  const pictures = el("div", "main", el("div", "half", left), el("div", "half", right));
  const node = el("div", {}, sliders, view.alert.node, pictures, view.status, folded);
  const draw = () => {
    const now = worked(store);
    parts.forEach((part) => part.show(now));
    setText(view.status, said(now));
  };
  return Object.assign(view, { node, draw });
}

/** Everything that follows from the state. */
function worked(store) {
  const [alpha, n, cost] = state.map((trait) => store.get(trait));
  const gains = times(MOST + 1, (each) => gain(alpha, each, cost));
  return { alpha, n, cost, gains, best: gains.indexOf(Math.max(...gains)), reached: reached(alpha, n) };
}

const said = ({ alpha, n, gains, best }) =>
  `A call judges ${n} guesses and writes ${fixed(tokens(alpha, n))} tokens on average: ` +
  `${fixed(gains[n])} times as fast as one by one. ` +
  `The fastest is γ = ${best}, with ${fixed(gains[best])}${best === MOST ? ", or more guesses" : ""}.`;

function settings(view) {
  const { store } = view;
  const share = (name, label) => {
    const range = { min: 0, max: 1, least: 0, most: 1 };
    return slide({ store, tell: view.alert.tell, name, label, ...range });
  };
  const parts = [share("alpha", "kept α"), whole(store), share("cost", "cost c of a guess")];
  return together(el("div", "controls hands", nodes(parts), reset(view, "settings")), parts);
}

/** The number of guesses, by a slider. */
function whole(store) {
  const slider = el("input", {
    type: "range",
    min: 0,
    max: MOST,
    "aria-label": "guesses γ",
    oninput: () => store.set({ guesses: Number(slider.value) }),
  });
  const told = el("span", "value");
  const show = ({ n }) => {
    slider.value = n;
    setText(told, String(n));
  };
  return { node: el("div", "slide", el("span", { "aria-hidden": "true" }, "guesses γ"), slider, told), show };
}

/** A picture over 0 to 16: its axis, its levels and their names. */
function plot(title, under, levels, y, ...inside) {
  const words = (props, text) => svg("text", props, text);
  const axes = svg("path", { class: "axes", d: levels.map((v) => `M${BOX.left} ${y(v)}H${BOX.right}`).join("") });
  const names = levels.map((v) => words({ x: BOX.left - 6, y: y(v) + 4, "text-anchor": "end" }, plain(v)));
  const ends = [0, 4, 8, 12, 16].map((n) => words({ x: x(n), y: H - 18, "text-anchor": "middle" }, String(n)));
  const below = words({ x: (BOX.left + BOX.right) / 2, y: H - 3, "text-anchor": "middle" }, under);
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true" }, axes, names, ends, below, inside);
  return el("div", "curve", el("p", "title", title), picture);
}

/** α^i for each guess: bars whose sum is the tokens of a call. */
function bars() {
  const y = (v) => BOX.bottom - v * (BOX.bottom - BOX.top);
  const shape = svg("path", "bars");
  const node = plot("probability that it is written", "guess; 0 is the model's own token", [0, 0.5, 1], y, shape);
  const bar = (p, i) => `M${x(i) - 0.36 * STEP} ${y(0)}V${y(p).toFixed(1)}h${0.72 * STEP}V${y(0)}z`;
  const show = (now) => shape.setAttribute("d", now.reached.map(bar).join(""));
  return { node, show };
}

/** The gain for each number of guesses, on an axis as high as is needed; the one chosen is marked. */
function curve() {
  const [line, dots, here] = ["line", "dots", "here"].map((name) => svg("path", name));
  const y = (share) => BOX.bottom - share * (BOX.bottom - BOX.top);
  const node = plot("times as fast", "guesses γ in a call", [0, 0.5, 1], y, line, dots, here);
  const names = [...node.querySelectorAll("text")].slice(0, 3);
  const ring = (n, v, r) => `M${x(n)} ${v.toFixed(1)}m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
  const show = ({ gains, n, best }) => {
    const top = TOPS.find((each) => each >= gains[best]);
    const at = gains.map((v) => y(v / top));
    names.forEach((name, level) => setText(name, plain((level * top) / 2)));
    line.setAttribute("d", `M${at.map((v, each) => `${x(each)} ${v.toFixed(1)}`).join("L")}`);
    dots.setAttribute("d", at.map((v, each) => ring(each, v, 1.8)).join(""));
    here.setAttribute("d", ring(n, at[n], 5));
  };
  return { node, show };
}

const table = (store) =>
  twin("Tokens a call and gain for each number of guesses", () => [
    ["guesses γ", "tokens a call", "times as fast"],
    ...worked(store).gains.map((v, n) => [String(n), fixed(tokens(store.get("alpha"), n)), fixed(v)]),
  ]);

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Speculative decoding", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
