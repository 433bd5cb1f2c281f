// A step in words and in a table.

import { grouped } from "../core/maths/number.js";
import { short } from "../core/view/text.js";
import { digits, many, sized, timed } from "../parts/units.js";
import { PARTS } from "./draw.js";

export function said({ texts, tokens, now: { memory, arithmetic, seconds, speed } }) {
  const longer = memory < arithmetic ? "Arithmetic" : "Memory";
  const each = texts > 1 ? `, ${short(speed / texts)} of each text` : "";
  return (
    `${longer} takes longer: a step takes at least ${timed(seconds)} ` +
    `and ${tokens > 1 ? "reads" : "writes"} at most ${short(speed)} tokens a second${each}.`
  );
}

/** Whether all of it lies in the machine's memory. */
export function fit({ machine, texts, now: { held, room } }) {
  const fits = room < 0 ? "Not even the weights fit" : room < texts ? "It does not fit" : "It fits";
  const space = room < 0 ? "" : `, room for ${grouped(room)} such texts`;
  return `${fits}: weights and caches take ${sized(held)}, and the machine has ${sized(machine.memory)}${space}.`;
}

/** The formula with the present numbers. */
export const formula = ({ machine, now }) =>
  `step ≥ max(\n(${sized(now.weights)} weights + ${sized(now.caches)} caches) / ${sized(machine.bytes_a_second)}/s,\n` +
  `${many(now.operations)} operations / ${many(machine.operations_a_second)}/s)\n` +
  `= max(${timed(now.memory)}, ${timed(now.arithmetic)}) = ${timed(now.seconds)}`;

/** Weights, caches and both together. */
export const rows = ({ machine, now: { weights, caches, products, attention, operations } }) => [
  ["part", "bytes", "to read", "operations", "to compute", "operations a byte"],
  ...[
    ["weights", weights, products],
    ["caches", caches, attention],
    ["together", weights + caches, operations],
  ].map(([name, bytes, count]) => [
    name,
    sized(bytes),
    timed(bytes / machine.bytes_a_second),
    many(count),
    timed(count / machine.operations_a_second),
    digits(count / bytes),
  ]),
];

/** The ways of writing in two sentences: what they gain, and whether their caches fit. */
export function compared({ texts, machine, paces }) {
  const kept = paces.filter(({ cached }) => cached);
  const [first, last] = [kept[0] ?? paces[0], paces.at(-1)];
  const wide = paces
    .filter(({ held }) => held > machine.memory)
    .map(({ name, held }) => `${name} takes ${sized(held)}`);
  const fits = wide.length ? `Not all of it fits in ${sized(machine.memory)}: ${wide.at(-1)}.` : "All of it fits.";
  return (
    `${grouped(texts)} ${texts > 1 ? "texts" : "text"} at once: a token of each takes at least ${timed(first.seconds)} ` +
    `with “${first.name}” and ${timed(last.seconds)} with “${last.name}”. ${fits}`
  );
}

/** A row for each way. */
export const wayRows = ({ paces }) => [
  ["way", ...PARTS, "together"],
  ...paces.map((one) => [
    one.name,
    ...[...PARTS.map((part) => one[part]), one.seconds].map((time) => (time ? timed(time) : "0")),
  ]),
];
