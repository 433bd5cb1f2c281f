// A step in words and in a table.

import { grouped } from "../core/maths/number.js";
import { digits, many, sized, timed } from "./maths.js";

/** Tokens a second: of a small number, decimals. @type {(value: number) => string} */
const speed = (value) => (value < 99.95 ? digits(value) : grouped(Math.round(value)));

export function said({ call: { texts, tokens }, model, machine, now }) {
  const { memory, arithmetic, seconds, aSecond } = now;
  const longer = memory >= arithmetic ? "memory" : "arithmetic";
  const each = texts > 1 ? `, ${speed(aSecond / texts)} of each text` : "";
  const does = tokens > 1 ? "takes in" : "writes";
  return (
    `${model.name} on ${machine.name}: ${longer} takes longer, so a step takes ${timed(seconds)} at least. ` +
    `It ${does} at most ${speed(aSecond)} tokens a second${each}.`
  );
}

/** Whether all of it lies in the machine's memory. */
export function fit({ model, machine, call, now: { held, caches, room } }) {
  const size = sized(machine.memory);
  if (room < 0)
    return `It does not fit: the weights of ${model.name} alone take ${sized(held - caches)}, and the machine has ${size}. Counted as if it had more.`;
  const all = `weights and caches take ${sized(held)}, and the machine has ${size}: room for ${grouped(room)} such texts`;
  return room < call.texts ? `It does not fit: ${all}. Counted as if it had more.` : `It fits: ${all}.`;
}

/** The formula with the present numbers, in lines and parts: a text, or a text with the class of its colour. */
export const formula = ({ machine, now }) => [
  "step = max(\n(",
  [`${sized(now.weights)} weights`, "weights"],
  " + ",
  [`${sized(now.caches)} caches`, "caches"],
  `) / ${sized(machine.bytes_a_second)}/s,\n`,
  [`${many(now.products + now.attention)} operations`, "products"],
  ` / ${many(machine.operations_a_second)}/s)\n= max(${timed(now.memory)}, ${timed(now.arithmetic)}) = ${timed(now.seconds)}`,
];

const HEAD = ["", "bytes", "to read", "operations", "to compute", "operations a byte"];

/** Weights, caches and both together. */
export function rows({ machine, now }) {
  const line = (name, bytes, operations) => [
    name,
    sized(bytes),
    timed(bytes / machine.bytes_a_second),
    many(operations),
    timed(operations / machine.operations_a_second),
    digits(operations / bytes),
  ];
  const { weights, caches, products, attention } = now;
  return [
    HEAD,
    line("weights", weights, products),
    line("caches", caches, attention),
    line("together", weights + caches, products + attention),
  ];
}
