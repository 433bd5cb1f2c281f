// Many that can be pressed are one stop of the Tab key; the arrow keys go from one to the next.

import { within } from "../maths/lists.js";
import { stepKeys } from "./stepper.js";

/**
 * Let Tab stop at the first of members, or at the one that had the focus last; ←, →, Home and End,
 * in an upright list ↑ and ↓ too, reach the others. Returns a function that goes to a place.
 * @type {(node: Element, members: any[], upright?: boolean) => (place: number) => void}
 */
export function oneStop(node, members, upright) {
  const keep = (chosen) => members.forEach((one) => one.setAttribute("tabindex", one === chosen ? "0" : "-1"));
  const go = (place) => members[within(place, members.length - 1)].focus();
  const step = (change) => {
    const at = members.indexOf(document.activeElement);
    return at < 0 ? false : go(at + change);
  };
  node.addEventListener("focusin", ({ target }) => members.includes(target) && keep(target));
  node.addEventListener("keydown", stepKeys(step, upright));
  keep(members[0]);
  return go;
}
