// A tile that sweeps the scores, by hand; what is summed is compared with NumPy in tests/attnlab/widgets.

import assert from "node:assert/strict";
import { test } from "node:test";
import { sweep, tiles } from "./maths.js";

test("a tile sweeps row by row, the last ones smaller, and Y is written where a row is done", () => {
  const places = Array.from({ length: tiles(8, 3) ** 2 }, (_, at) => sweep(8, 3, at + 1));
  assert.deepEqual(
    places.map(({ query, key }) => [query, key]),
    [0, 3, 6].flatMap((query) => [0, 3, 6].map((key) => [query, key])),
  );
  assert.deepEqual(
    places.map(({ written }) => written),
    [0, 0, 3, 3, 3, 6, 6, 6, 8],
  );
  assert.deepEqual([places[8].queries, places[8].keys], [2, 2]);
});

test("every score is swept once, and fast memory holds what the tile needs", () => {
  for (const [n, tile] of [
    [8, 2],
    [7, 3],
    [5, 5],
    [1, 1],
  ]) {
    const all = Array.from({ length: tiles(n, tile) ** 2 }, (_, at) => sweep(n, tile, at + 1));
    assert.equal(
      all.reduce((sum, { queries, keys }) => sum + queries * keys, 0),
      n * n,
    );
    assert.equal(all.at(-1).written, n);
    assert.equal(all[0].fast, 6 * tile + tile * tile);
  }
  assert.deepEqual(
    [1, 2, 3, 4, 8].map((tile) => sweep(8, tile, 1).moved), // larger tiles move less, down to 4 n
    [144, 80, 64, 48, 32],
  );
  assert.deepEqual(sweep(8, 2, 0), sweep(8, 2, 1)); // before the first one, nothing is drawn
});
