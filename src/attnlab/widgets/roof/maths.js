// What a step takes, as plain numbers: as `attnlab.models.roof` counts it.

/**
 * `numbers` are what a token leaves in the cache; `pairs` the products of a token with one cached
 * token; `unread` the input's table; of the weights in experts, `routed`, a token takes the share
 * `chosen`.
 * @typedef {{name: string, parameters: number, numbers: number, pairs: number, unread: number, routed: number, chosen: number}} Model
 * @typedef {{name: string, bytes_a_second: number, operations_a_second: number, memory: number}} Machine
 * @typedef {{texts: number, tokens: number, cached: number, weightBits: number, cacheBits: number}} Call
 */

/** The weights that a call with so many tokens reads. @type {(model: Model, tokens: number) => number} */
export const read = ({ parameters, unread, routed, chosen }, tokens) =>
  parameters - unread - routed * (1 - chosen) ** tokens;

/**
 * seconds = max((weights + caches) / bytes a second, operations / operations a second)
 * @type {(model: Model, machine: Machine, call: Call) => any}
 */
export function step(model, machine, { texts, tokens, cached, weightBits, cacheBits }) {
  const each = ((cached + tokens) * model.numbers * cacheBits) / 8;
  const [weights, caches] = [(read(model, texts * tokens) * weightBits) / 8, texts * each];
  const products = 2 * read(model, 1) * texts * tokens;
  const attention = 2 * model.pairs * texts * (tokens * cached + (tokens * (tokens + 1)) / 2);
  const memory = (weights + caches) / machine.bytes_a_second;
  const arithmetic = (products + attention) / machine.operations_a_second;
  const seconds = Math.max(memory, arithmetic);
  const all = (model.parameters * weightBits) / 8;
  const left = machine.memory - all;
  return {
    weights,
    caches,
    products,
    attention,
    memory,
    arithmetic,
    seconds,
    aSecond: (texts * tokens) / seconds,
    held: all + caches,
    room: left < 0 ? -1 : Math.floor(left / each),
  };
}

/** Operations a second, under the roof, where each byte serves so many. @type {(machine: Machine, intensity: number) => number} */
export const under = (machine, intensity) => Math.min(machine.operations_a_second, machine.bytes_a_second * intensity);

/** Operations a byte where both limits meet. @type {(machine: Machine) => number} */
export const corner = (machine) => machine.operations_a_second / machine.bytes_a_second;

/** The next of 1, 2, 5, 10, … that is no less: the end of an axis. @type {(value: number) => number} */
export function round(value) {
  const ten = 10 ** Math.floor(Math.log10(value));
  return ten * ([1, 2, 5].find((part) => part * ten >= value) ?? 10);
}

export { digits, many, sized, timed } from "../parts/units.js";
