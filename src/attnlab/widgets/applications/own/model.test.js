// The model itself is compared with PyTorch in tests/attnlab/widgets; here is what it is quick by.

import assert from "node:assert/strict";
import { test } from "node:test";
import { linear } from "./model.js";
import { unpack } from "./unpack.js";

const some = (count, seed) => Array.from({ length: count }, (_, at) => (((at + seed) * 7919) % 53) / 26 - 1);

test("rows met two at a time, and vectors four at a time, are those met one by one", () => {
  for (const [m, d] of [
    [2, 3],
    [5, 4],
    [1, 7],
  ]) {
    const map = { weight: Float32Array.from(some(m * d, 1)), bias: Float32Array.from(some(m, 2)) };
    const x = Float64Array.from(some(8 * d, 3));
    const found = linear(map, x);
    for (let i = 0; i < 8; i++) {
      for (let r = 0; r < m; r++) {
        let sum = map.bias[r];
        for (let c = 0; c < d; c++) sum += map.weight[r * d + c] * x[i * d + c];
        assert.ok(Math.abs(found[i * m + r] - sum) < 1e-12);
      }
    }
  }
});

test("bytes of another model are refused", () => {
  assert.throws(() => unpack(new Uint8Array(3), [[2, 3]]), /another model/);
});
