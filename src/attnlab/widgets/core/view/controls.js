// The heat map's controls: temperature, scale, causal mask, heads, files.

import { written } from "../maths/number.js";
import { alertLine, el, nodes, numberBox, tick, together } from "./dom.js";

/** @import { Part, Store } from "../types.d.ts" */

/** The slider runs over the temperature's logarithm, so that 1 is in the middle. */
const toTemperature = (place) => Number((10 ** place).toPrecision(3));

const COLDEST = 0.01;
const HOTTEST = 1000; // beyond it every weight is the same to three decimals

/**
 * A slider for the hand, from min to max, and beside it the number, from least to most, for a
 * value of the trait `name` wanted exactly. The slider may run over another scale than the value;
 * where this is `whole`, it stops at whole places.
 * @param {{store: Store, tell: (message: string) => void, name: string, label?: string, min: number|string, max: number|string, least: number, most: number, whole?: boolean, thousands?: boolean, value?: (place: number) => number, place?: (now: number) => number}} how
 * @returns {Part}
 */
export function slide({
  store,
  tell,
  name,
  label = name,
  min,
  max,
  least,
  most,
  whole = false,
  thousands = whole,
  value = (place) => place,
  place = (now) => now,
}) {
  const step = whole ? 1 : 0.01;
  const slider = el("input", {
    type: "range",
    min,
    max,
    step,
    "aria-label": label,
    oninput: () => store.set({ [name]: value(Number(slider.value)) }),
  });
  const exact = numberBox({
    label: `${label} as a number`,
    least,
    most,
    whole,
    thousands,
    step,
    change: (typed) => store.set({ [name]: typed }),
    tell,
  });
  const show = () => {
    const now = store.get(name);
    const there = place(now);
    // a slider under the reader's finger already stands where it should
    if (Math.abs(Number(slider.value) - there) > 0.006) slider.value = there;
    const text = written(whole ? now : Number(now.toPrecision(4)), { thousands });
    slider.setAttribute("aria-valuetext", text);
    exact.show(now, text);
  };
  const node = el("div", "slide", el("span", { "aria-hidden": "true" }, label), slider, exact.node);
  return { node, show };
}

/** @type {(store: Store, tell: (message: string) => void) => Part} */
export const temperature = (store, tell) =>
  slide({
    store,
    tell,
    name: "temperature",
    min: -1,
    max: 1,
    least: COLDEST,
    most: HOTTEST,
    value: toTemperature,
    place: Math.log10,
  });

/** Dividing by √d; with one component there is nothing to divide by. @type {(store: Store, d?: number) => Part} */
export function scaling(store, d = store.get("d")) {
  if (d === 1) return { show() {} };
  const box = tick(`divide by √${d}`, (on) => store.set({ scaled: on }));
  return { node: box.node, show: () => box.show(store.get("scaled")) };
}

/** @type {(store: Store) => Part} */
export function masking(store) {
  const box = tick("causal mask", (on) => store.set({ causal: on }));
  return { node: box.node, show: () => box.show(store.get("causal")) };
}

/**
 * Temperature, scale and more controls, and behind them what else belongs there.
 * @param {any} view
 * @param {Part[]} [more]
 * @param {...any} behind
 * @returns {Part}
 */
export function settings(view, more = [masking(view.store)], ...behind) {
  const { store } = view;
  view.alert = alertLine();
  const parts = [temperature(store, view.alert.tell), scaling(store), ...more];
  const node = el("div", {}, el("div", "controls", nodes(parts), behind), view.alert.node);
  return together(node, parts);
}
