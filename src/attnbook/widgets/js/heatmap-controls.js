// The heat map's controls: temperature, scale, causal mask, heads, files.

import { button, el, numberBox, setText, tick } from "./dom.js";
import { csv, save } from "./export.js";
import { rowOf } from "./frame.js";
import { current } from "./heatmap-words.js";
import { canvasPen, svgPen } from "./pens.js";
import { drawPicture, layout, measureWith, sizeCanvas } from "./picture.js";

/** The slider runs over the temperature's logarithm, so that 1 is in the middle. */
const toTemperature = (place) => Number((10 ** place).toPrecision(3));

const COLDEST = 0.01;
const HOTTEST = 1000; // beyond it every weight is the same to three decimals

/** A slider for the hand, and a number beside it for a temperature wanted exactly. */
export function temperature(store, tell) {
  const slider = el("input", {
    type: "range", min: "-1", max: "1", step: "0.01", "aria-label": "temperature",
    oninput: () => store.set({ temperature: toTemperature(Number(slider.value)) }),
  });
  const exact = numberBox({
    label: "temperature as a number", wanted: `a number from ${COLDEST} to ${HOTTEST}`, step: 0.01,
    usable: (value) => value >= COLDEST && value <= HOTTEST,
    change: (value) => store.set({ temperature: value }),
    tell,
  });
  const show = () => {
    const now = store.get("temperature");
    const place = Math.log10(now);
    // a slider under the reader's finger already stands where it should
    if (Math.abs(Number(slider.value) - place) > 0.006) slider.value = place;
    const text = String(Number(now.toPrecision(4)));
    slider.setAttribute("aria-valuetext", text);
    exact.show(now, text);
  };
  const node = el("div", { class: "attnbook-slide" },
    el("span", { "aria-hidden": "true" }, "temperature"), slider, exact.node);
  return { node, show };
}

/** Temperature, scale and causal mask; more controls may stand behind them. */
export function settings(store, more = []) {
  const error = el("p", { class: "attnbook-error", role: "alert" });
  const heat = temperature(store, (message) => setText(error, message));
  const d = store.get("d");
  const scaled = d > 1 ? tick(`divide by √${d}`, (on) => store.set({ scaled: on })) : null;
  const causal = tick("causal mask", (on) => store.set({ causal: on }));
  const show = () => {
    heat.show();
    scaled?.show(store.get("scaled"));
    causal.show(store.get("causal"));
  };
  const node = el("div", {},
    el("div", { class: "attnbook-controls" }, heat.node, scaled?.node, causal.node, more), error);
  return { node, show, complain: (message) => setText(error, message) };
}

/** Small pictures of all heads, each a button; null where there is one head only. */
export function headStrip({ heads, store }) {
  if (heads.length === 1) return null;
  const buttons = heads.map((head, h) => el("button", {
    type: "button", class: "attnbook-head", "aria-label": `head ${h}`,
    onclick: () => store.set({ head: h }),
  }, head.canvas, el("span", {}, String(h))));
  const props = { class: "attnbook-strip", role: "group", "aria-label": "heads" };
  return { node: el("div", props, buttons), buttons };
}

export function drawHeads({ strip, store }) {
  strip?.buttons.forEach((node, h) =>
    node.setAttribute("aria-pressed", String(h === store.get("head"))));
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
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  const { what, measure, at } = placed(view, context);
  sizeCanvas(canvas, at, 2);
  context.setTransform(2, 0, 0, 2, 0, 0);
  drawPicture(canvasPen(context, view.family), at, what, view.palette, measure);
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
  return el("div", { class: "attnbook-actions" }, el("span", {}, "save as"),
    make("PNG", savePng), make("SVG", saveSvg), make("CSV", saveCsv));
}
