// A slider over the powers of 2, and beside it a box for any whole number between.

import { slide } from "../core/view/controls.js";

/**
 * `stops` are the first and the last power; with `zero`, the stop before the first is 0.
 * @type {(view: any, label: string, trait: string, stops: number[], zero?: boolean) => import("../core/types.d.ts").Part}
 */
export const power = ({ store, alert }, label, name, [first, last], zero = false) =>
  slide({
    store,
    tell: alert.tell,
    name,
    label,
    min: zero ? first - 1 : first,
    max: last,
    least: zero ? 0 : 2 ** first,
    most: 2 ** last,
    whole: true,
    value: (stop) => (stop < first ? 0 : 2 ** stop),
    place: (now) => Math.max(first - 1, Math.log2(now)),
  });
