// The softmax of one query from tiles of its scores: pure functions, tested against NumPy.

import { times } from "../core/maths/lists.js";

/** @type {(parts: number[]) => number} */
const sum = (parts) => parts.reduce((soFar, part) => soFar + part, 0);

/** How many tiles there are. @type {(keys: number, tile: number) => number} */
export const tiles = (keys, tile) => Math.ceil(keys / tile);

/**
 * Where a tile is that sweeps n × n scores, row by row of tiles, after so many steps: its first
 * query and key, how many it has of them, how many rows of Y are written, and how many numbers
 * fast memory holds, where a vector is one: Q, K, V and scores of the tile, m, ℓ and o. The whole
 * sweep has moved Q and Y once, K and V once for each row of tiles.
 * @type {(n: number, tile: number, step: number) => {query: number, key: number, queries: number, keys: number, written: number, fast: number, moved: number}}
 */
export function sweep(n, tile, step) {
  const many = tiles(n, tile);
  const at = Math.max(step - 1, 0);
  const [query, key] = [Math.floor(at / many) * tile, (at % many) * tile];
  const [queries, keys] = [query, key].map((first) => Math.min(tile, n - first));
  const written = key + keys === n ? query + queries : query;
  const fast = 4 * queries + 2 * keys + queries * keys;
  return { query, key, queries, keys, written, fast, moved: 2 * n * (1 + many) };
}

/**
 * What is kept after each tile: maximum, total ℓ and output o, and the factor that brought the
 * sums before it to the new maximum; `factor` says whether it is used.
 * @param {{scores: number[], values: number[], tile: number, factor: boolean}} given
 * @returns {{maximum: number, factor: number, total: number, output: number}[]}
 */
export function seen({ scores, values, tile, factor }) {
  let before = { maximum: -Infinity, factor: 0, total: 0, output: 0 };
  return times(tiles(scores.length, tile), (place) => {
    const [e, v] = [scores, values].map((part) => part.slice(place * tile, (place + 1) * tile));
    const maximum = Math.max(before.maximum, ...e);
    const parts = e.map((score) => 2 ** (score - maximum));
    const shrunk = 2 ** (before.maximum - maximum);
    const used = factor ? shrunk : 1;
    before = {
      maximum,
      factor: shrunk,
      total: used * before.total + sum(parts),
      output: used * before.output + sum(parts.map((part, j) => part * v[j])),
    };
    return before;
  });
}

/** The softmax's own result, from all scores at once. @type {(scores: number[], values: number[]) => number} */
export function whole(scores, values) {
  const [all] = seen({ scores, values, tile: scores.length, factor: true });
  return all.output / all.total;
}
