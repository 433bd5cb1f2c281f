// What a cache takes in words and in a table.

import { grouped } from "../core/maths/number.js";
import { cacheBytes, perToken, room, sized, weightBytes } from "./maths.js";

/** @type {(n: number) => string} */
const roomSaid = (n) => (n < 0 ? "none" : n === Infinity ? "any length" : grouped(n));

/** All that is said of one model now. */
export function counted(model, { context, batch, bits, weightBits, memory }) {
  const [cache, weights] = [cacheBytes(model, context, batch, bits), weightBytes(model, weightBits)];
  return {
    cache,
    weights,
    each: perToken(model, context, bits),
    longest: room(model, memory, batch, bits, weightBits),
  };
}

/** The chosen model in a sentence or two. */
export function said({ models, chosen, context, batch, gpu, all }) {
  const { name, context: own } = models[chosen];
  const { cache, weights, each, longest } = all[chosen];
  const texts = batch === 1 ? "" : ` in each of ${grouped(batch)} texts`;
  const place = `a GPU of ${gpu} GB`;
  const space = longest === Infinity ? "texts of any length" : `${grouped(longest)} tokens${texts}`;
  const fit =
    longest < 0
      ? `The weights alone do not fit in ${place}.`
      : longest < context
        ? `They do not fit in ${place}: beside the weights it has room for ${space}.`
        : `They fit in ${place}: beside the weights it has room for ${space}.`;
  const beyond = context > own ? ` The model itself was made for ${grouped(own)} tokens at most.` : "";
  return (
    `${name}, ${grouped(context)} tokens${texts}: the cache takes ${sized(cache)}, where one more ` +
    `token adds ${sized(each)}; the weights take ${sized(weights)}. ${fit}${beyond}`
  );
}

/** A row for each model. */
export const tableRows = ({ models, gpu, all }) => [
  ["model", "its context", "cache", "one more token", "weights", "together", `room in ${gpu} GB`],
  ...models.map(({ name, context }, i) => {
    const { cache, weights, each, longest } = all[i];
    return [
      name,
      grouped(context),
      sized(cache),
      sized(each),
      sized(weights),
      sized(cache + weights),
      roomSaid(longest),
    ];
  }),
];
