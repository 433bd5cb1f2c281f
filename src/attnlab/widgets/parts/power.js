// A slider over the powers of 2, and beside it a box for any whole number between.

import { grouped } from "../core/maths/number.js";
import { el, numberBox } from "../core/view/dom.js";

/**
 * `stops` are the first and the last power; with `zero`, the stop before the first is 0.
 * @type {(view: any, label: string, trait: string, stops: number[], zero?: boolean) => import("../core/types.d.ts").Part}
 */
export function power({ store, alert }, label, trait, [first, last], zero = false) {
  const value = (stop) => (stop < first ? 0 : 2 ** stop);
  const slider = el("input", {
    type: "range",
    min: zero ? first - 1 : first,
    max: last,
    step: 1,
    "aria-label": label,
    oninput: () => store.set({ [trait]: value(Number(slider.value)) }),
  });
  const box = numberBox({
    label: `${label} as a number`,
    whole: true,
    least: zero ? 0 : value(first),
    most: value(last),
    change: (typed) => store.set({ [trait]: typed }),
    tell: alert.tell,
  });
  const show = (now) => {
    slider.value = Math.max(first - 1, Math.round(Math.log2(now[trait])));
    slider.setAttribute("aria-valuetext", grouped(now[trait]));
    box.show(now[trait]);
  };
  return { node: el("div", "slide", el("span", { "aria-hidden": "true" }, label), slider, box.node), show };
}
