// The model itself is compared with PyTorch in tests/attnlab/widgets; here is what it is quick by.

import assert from "node:assert/strict";
import { test } from "node:test";
import { largest, logSoftmax } from "./model.js";

test("the largest values are those of a sort, and of equals the earlier comes first", () => {
  const values = Array.from({ length: 400 }, (_, at) => (at * 7919) % 53);
  const sorted = [...values.keys()].sort((a, b) => values[b] - values[a]);
  for (const count of [1, 5, 60, 400, 500]) {
    assert.deepEqual(largest(values, count), sorted.slice(0, count));
  }
});

test("log-probabilities sum to 1, whatever the logits", () => {
  for (const logits of [Float32Array.of(1, 2, 3), Float32Array.of(-1e30, 1e4, 1e4), new Float32Array(20000)]) {
    const total = logSoftmax(logits).reduce((sum, log) => sum + Math.exp(log), 0);
    assert.ok(Math.abs(total - 1) < 1e-9);
  }
});
