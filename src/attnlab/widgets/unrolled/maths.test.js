import assert from "node:assert/strict";
import { test } from "node:test";
import { gruCell } from "./maths.js";

test("a GRU whose update gate is open keeps its state, and forgets it where it is shut", () => {
  const zeros = new Float64Array(3);
  const cell = (z) => gruCell([zeros, zeros, Float64Array.of(0, z, 0), zeros], [1], Float64Array.of(0.5))[0];
  for (const [z, kept] of [
    [100, 0.5],
    [-100, 0],
    [0, 0.25],
  ])
    assert.ok(Math.abs(cell(z) - kept) < 1e-9);
});
