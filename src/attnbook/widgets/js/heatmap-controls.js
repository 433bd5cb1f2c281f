// The heat map's controls: temperature, scale, causal mask, heads, files.

import { alertLine, button, el, nodes, numberBox, pressed, tick, together } from "./dom.js";
import { csv, save } from "./export.js";
import { rowOf } from "./frame.js";
import { current } from "./heatmap-words.js";
import { svgPen } from "./pens.js";
import { drawPicture, layout, measureWith } from "./picture.js";
import { onCanvas } from "./plot.js";

/** The slider runs over the temperature's logarithm, so that 1 is in the middle. */
const toTemperature = (place) => Number((10 ** place).toPrecision(3));

const COLDEST = 0.01;
const HOTTEST = 1000; // beyond it every weight is the same to three decimals

/**
 * A slider for the hand, from min to max, and beside it the number, from least to most, for a
 * value of the trait `name` wanted exactly. The slider may run over another scale than the value.
 */
export function slide({
  store, tell, name, label = name, min, max, least, most, value = (place) => place,
  place = (now) => now,
}) {
  const slider = el("input", {
    type: "range", min, max, step: "0.01", "aria-label": label,
    oninput: () => store.set({ [name]: value(Number(slider.value)) }),
  });
  const exact = numberBox({
    label: `${label} as a number`, least, most, step: 0.01,
    change: (typed) => store.set({ [name]: typed }),
    tell,
  });
  const show = () => {
    const now = store.get(name);
    const there = place(now);
    // a slider under the reader's finger already stands where it should
    if (Math.abs(Number(slider.value) - there) > 0.006) slider.value = there;
    const text = String(Number(now.toPrecision(4)));
    slider.setAttribute("aria-valuetext", text);
    exact.show(now, text);
  };
  const node = el("div", "slide",
    el("span", { "aria-hidden": "true" }, label), slider, exact.node);
  return { node, show };
}

export const temperature = (store, tell) => slide({
  store, tell, name: "temperature", min: -1, max: 1, least: COLDEST, most: HOTTEST,
  value: toTemperature, place: Math.log10,
});

/** Dividing by √d; with one component there is nothing to divide by. */
export function scaling(store, d = store.get("d")) {
  if (d === 1) return { show() {} };
  const box = tick(`divide by √${d}`, (on) => store.set({ scaled: on }));
  return { node: box.node, show: () => box.show(store.get("scaled")) };
}

export function masking(store) {
  const box = tick("causal mask", (on) => store.set({ causal: on }));
  return { node: box.node, show: () => box.show(store.get("causal")) };
}

/** Temperature, scale and more controls, and behind them what else belongs there. */
export function settings(view, more = [masking(view.store)], ...behind) {
  const { store } = view;
  view.alert = alertLine();
  const parts = [temperature(store, view.alert.tell), scaling(store), ...more];
  const node = el("div", {},
    el("div", "controls", nodes(parts), behind), view.alert.node);
  return together(node, parts);
}

/** Small pictures of all heads, each a button; null where there is one head only. */
export function headStrip({ heads, store }) {
  if (heads.length === 1) return null;
  const buttons = heads.map((head, h) => el("button", {
    type: "button", class: "head", "aria-label": `head ${h}`,
    onclick: () => store.set({ head: h }),
  }, head.canvas, el("span", {}, String(h))));
  const props = { class: "strip", role: "group", "aria-label": "heads" };
  return { node: el("div", props, buttons), buttons };
}

export function drawHeads({ strip, store }) {
  strip?.buttons.forEach((node, h) =>
    pressed(node, h === store.get("head")));
}

/** What is exported: the pinned row, or the whole matrix where none is pinned. */
export function exported(view) {
  const what = current(view);
  if (what.pinned === null) return what;
  const { nK } = what.head;
  const i = what.pinned;
  return {
    ...what, pinned: null, head: rowOf(what.head, i), tokens: [what.tokens[i]],
    may: what.may.slice(i * nK, (i + 1) * nK),
  };
}

function placed(view, context) {
  const what = view.exported();
  const measure = measureWith(context, view.family);
  return { what, measure, at: layout({ width: 900, ...what, measure }) };
}

function savePng(view) {
  const canvas = el("canvas");
  const { what, measure, at } = placed(view, canvas.getContext("2d"));
  onCanvas(canvas, at, view.family, (pen) => drawPicture(pen, at, what, view.palette, measure), 2);
  canvas.toBlob((blob) => save("attention.png", blob), "image/png");
}

function saveSvg(view) {
  const { what, measure, at } = placed(view, view.canvas.getContext("2d"));
  const pen = svgPen(view.family);
  drawPicture(pen, at, what, view.palette, measure);
  save("attention.svg", pen.finish(at.width, at.height, "Attention weights"), "image/svg+xml");
}

/** The rows of the CSV file: those of what is exported. */
export function rows(view) {
  const { head, may, tokens, keyTokens } = exported(view);
  const cell = (at) => (may[at] ? head.weights[at] : "masked");
  return [["query", ...keyTokens],
    ...tokens.map((token, i) => [token, ...keyTokens.map((_, j) => cell(i * head.nK + j))])];
}

const saveCsv = (view) => save("attention.csv", csv(view.rows()), "text/csv;charset=utf-8");

/** Buttons that save a view's picture, exported(), and its numbers, rows(). */
export function actions(view) {
  const make = (name, run) => button(name, () => run(view), { "aria-label": `save as ${name}` });
  return el("div", "actions", el("span", {}, "save as"),
    make("PNG", savePng), make("SVG", saveSvg), make("CSV", saveCsv));
}
