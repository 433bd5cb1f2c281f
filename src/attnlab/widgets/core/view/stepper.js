// Moving along steps: buttons, and arrow keys that do the same.

import { within } from "../maths/lists.js";
import { button, el, onKeys, setText } from "./dom.js";

/** @import { Part } from "../types.d.ts" */

const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
const UPRIGHT = { ...KEYS, ArrowUp: -1, ArrowDown: 1 };

/**
 * A listener for ←, →, Home and End; in an upright list for ↑ and ↓ too.
 * @type {(by: (change: number) => any, upright?: boolean) => (event: any) => void}
 */
export const stepKeys = (by, upright) =>
  onKeys(({ key }) => {
    const change = (upright ? UPRIGHT : KEYS)[key];
    return change ? by(change) : false;
  });

const PREVIOUS = { previous: -1, next: 1 };

/**
 * Buttons for steps from 0 to last(). `moves` are changes by the buttons' names, in whose middle
 * `inner` stands; they go to a step by `go`. `at` reads the store, not the last picture: two
 * presses may come within one frame. `told` is what is counted, if that is said.
 * @param {{what: string, moves?: Record<string, number>, inner?: any, at: () => number, last: () => number, go: (step: number) => any, upright?: boolean, told?: () => string}} how
 * @returns {Part & {by: (change: number) => any}}
 */
export function stepper({ what, moves = PREVIOUS, inner, at, last, go, upright, told }) {
  const by = (change) => go(within(at() + change, last()));
  const changes = Object.values(moves);
  const buttons = Object.keys(moves).map((name, place) => button(name, () => by(changes[place])));
  const half = buttons.length / 2;
  // one stop for the tab key: the arrow keys, Home and End do what the other buttons do
  for (const one of buttons) one.tabIndex = one === buttons[half] ? 0 : -1;
  const place = told && el("span");
  const node = el(
    "div",
    {
      class: "stepper",
      role: "group",
      "aria-label": `${what}; left and right arrow keys move`,
      onkeydown: stepKeys(by, upright),
    },
    buttons.slice(0, half),
    inner,
    buttons.slice(half),
    place,
  );
  const show = () => {
    // not `disabled`: that would take the keyboard's focus away at either end
    buttons.forEach((one, each) => one.setAttribute("aria-disabled", at() === (each < half ? 0 : last())));
    if (told) setText(place, told());
  };
  return { node, show, by };
}
