// A drawing's sizes worked out: what sizes.py reads as trees, as `value` there does; its labels.

import { grouped } from "../core/maths/number.js";

const LARGEST = Number.MAX_SAFE_INTEGER;

/** A tree: a whole number, a name, or [operation, tree, tree]. @typedef {any} Tree */

/**
 * A tree's number, or an Error that says why there is none.
 * @type {(tree: Tree, sizes: Record<string, number>) => number}
 */
export function value(tree, sizes) {
  if (typeof tree === "string") return sizes[tree];
  if (typeof tree === "number") return tree;
  const [sign, ...both] = tree;
  const [left, right] = both.map((one) => value(one, sizes));
  if (sign === "/") {
    if (right === 0) throw new Error(`${grouped(left)} / 0 has no value`);
    if (left % right) throw new Error(`${grouped(left)} / ${grouped(right)} is not a whole number`);
    return left / right;
  }
  if (sign === "-" && left < right) throw new Error(`${grouped(left)} − ${grouped(right)} is below 0`);
  const found = sign === "+" ? left + right : sign === "-" ? left - right : left * right;
  if (found > LARGEST) throw new Error("a number is too large to be counted");
  return found;
}

function valued(what, tree, sizes) {
  try {
    return value(tree, sizes);
  } catch (error) {
    throw new Error(`${what}: ${error.message}`);
  }
}

/**
 * Everything at these sizes: all sizes, each box's shape and counts, each arrow's shape, the sums.
 * Throws an Error with a sentence where a number is none.
 * @param {any} picture
 * @param {[string, string, Tree][]} derived
 * @param {Record<string, number>} sizes
 */
export function worked(picture, derived, sizes) {
  const all = { ...sizes };
  for (const [name, text, tree] of derived) all[name] = valued(`${name} = ${text}`, tree, all);
  const shaped = (what, shape) => shape.map((tree) => valued(what, tree, all));
  const boxes = picture.boxes.map(({ label, shape, parameters, multiplications, times }) => ({
    shape: shaped(label, shape),
    times: times ? valued(label, times.tree, all) : 1,
    parameters: valued(label, parameters.tree, all),
    multiplications: valued(label, multiplications.tree, all),
  }));
  const arrows = picture.arrows.map(({ letters, shape }) => shaped(letters, shape));
  const sum = (name) => boxes.reduce((before, box) => before + box.times * box[name], 0);
  return { all, boxes, arrows, parameters: sum("parameters"), multiplications: sum("multiplications") };
}

/** A count in at most nine letters: all digits below ten million, then one decimal. @type {(number: number) => string} */
export function short(number) {
  if (number < 1e7) return grouped(number);
  const power = Math.min(Math.floor((String(number).length - 1) / 3), 5);
  const tenths = Math.floor(number / 10 ** (3 * power - 1));
  return `${Math.floor(tenths / 10)}.${tenths % 10} ${" kMGTP"[power]}`;
}

/** As PyTorch prints a shape, without commas at thousands. @type {(shape: number[]) => string} */
export const times = (shape) => shape.join(" × ");

const MARKED = /([\^_])(?:\{([^{}]*)\}|([\p{L}\p{N}]+))/gu;

/** A label's parts with their level: 1 raised, −1 lowered; as layout.py's. @type {(text: string) => [string, number][]} */
export function pieces(text) {
  const found = [];
  let at = 0;
  for (const mark of text.matchAll(MARKED)) {
    found.push([text.slice(at, mark.index), 0], [mark[2] ?? mark[3], mark[1] === "^" ? 1 : -1]);
    at = mark.index + mark[0].length;
  }
  return [...found, [text.slice(at), 0]].filter(([part]) => part);
}
