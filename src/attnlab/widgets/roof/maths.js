// What a step takes, as plain numbers: as `attnlab.models.roof` counts it.

/**
 * `numbers` are what a token leaves in the cache; `pairs` the products of a token with one cached
 * token; `unread` the input's table; of the weights in experts, `routed`, a token takes the share
 * `chosen`.
 * @typedef {{name: string, parameters: number, numbers: number, pairs: number, unread: number, routed: number, chosen: number}} Model
 * @typedef {{name: string, bytes_a_second: number, operations_a_second: number, memory: number}} Machine
 * @typedef {{texts: number, tokens: number, cached: number, weight_bits: number, cache_bits: number}} Call
 */

/** The weights that a call with so many tokens reads. @type {(model: Model, tokens: number) => number} */
const read = ({ parameters, unread, routed, chosen }, tokens) => parameters - unread - routed * (1 - chosen) ** tokens;

/**
 * seconds = max((weights + caches) / bytes a second, operations / operations a second)
 * @type {(model: Model, machine: Machine, call: Call) => any}
 */
export function step(model, machine, { texts, tokens, cached, weight_bits, cache_bits }) {
  const each = ((cached + tokens) * model.numbers * cache_bits) / 8;
  const all = (model.parameters * weight_bits) / 8;
  const [weights, caches] = [(read(model, texts * tokens) * weight_bits) / 8, texts * each];
  const products = 2 * read(model, 1) * texts * tokens;
  const attention = 2 * model.pairs * texts * (tokens * cached + (tokens * (tokens + 1)) / 2);
  const operations = products + attention;
  const memory = (weights + caches) / machine.bytes_a_second;
  const arithmetic = operations / machine.operations_a_second;
  const seconds = Math.max(memory, arithmetic);
  const speed = (texts * tokens) / seconds;
  const [held, room] = [all + caches, Math.floor((machine.memory - all) / each)]; // room < 0: not even the weights
  return { weights, caches, products, attention, operations, memory, arithmetic, seconds, speed, held, room };
}

/**
 * Seconds for a token of each text: to read, to compute beyond that, and to guess; as `Way.pace`.
 * @type {(way: any, machine: Machine, texts: number) => any}
 */
export function pace({ name, model, written, draft, ...call }, machine, texts) {
  const [now, alone] = [call.tokens, 1].map((tokens) => step(model, machine, { ...call, texts, tokens }));
  const [blue, orange] = [now.weights, now.caches].map((bytes) => bytes / machine.bytes_a_second);
  const beyond = now.seconds - now.memory;
  const read = call.cached ? [blue, orange, beyond] : [blue, 0, beyond + orange]; // nothing is read again
  const all = [...read, draft * alone.seconds].map((time) => time / written);
  const [weights, caches, arithmetic, guessing] = all;
  const seconds = all.reduce((sum, time) => sum + time);
  return { name, cached: call.cached, weights, caches, arithmetic, draft: guessing, seconds, held: now.held };
}
