// A memory by hand-sized examples; the comparison with torch is in tests/attnlab/widgets.

import assert from "node:assert/strict";
import { test } from "node:test";
import { written } from "./maths.js";
import { said } from "./words.js";

const VALUES = [
  [3, 1],
  [-1, 2],
  [1, 3],
];
const given = { values: VALUES, third: false, angle: 45, length: 1, write: "sum", decay: 1, beta: 1 };
const after = (more) => written({ ...given, ...more });
const offs = (more) => after(more).asked.map(({ off }) => Number(off.toFixed(3)));

test("two keys at right angles read both values back exactly, and S has them as its rows", () => {
  assert.deepEqual(after({}).S, VALUES.slice(0, 2));
  assert.deepEqual(offs({}), [0, 0]);
});

test("a third key spoils all in a sum; the delta rule reads the last one back, and replaces", () => {
  assert.deepEqual(offs({ third: true }), [2.236, 2.236, 2.55]);
  assert.deepEqual(offs({ third: true, write: "delta" }), [0.687, 0.687, 0]);
  assert.deepEqual(after({ third: true, write: "delta", angle: 0 }).S, [VALUES[2], VALUES[1]]);
  assert.deepEqual(after({ third: true, angle: 0 }).S, [[4, 4], VALUES[1]]);
});

test("through φ each key reads an average; without a decay of 1 what came before fades", () => {
  const [one] = after({ write: "phi" }).asked;
  assert.ok(Math.abs(one.read[0] - 11 / 9) < 1e-12);
  assert.deepEqual(after({ decay: 0.5 }).S, [[1.5, 0.5], VALUES[1]]);
  assert.deepEqual(after({ decay: 0 }).S, [[0, 0], VALUES[1]]);
});

test("a zero key, no decay, and the largest values are defined and said", () => {
  const tell = (more, step = 3) =>
    said({ ...given, third: true, ...more, ...written({ ...given, third: true, ...more }, step), step });
  assert.match(tell({ length: 0, write: "delta" }), /k₃ is all zeros: nothing is written under it/);
  assert.match(tell({ length: 0, write: "phi" }), /φ\(k₃\) = \(1, 1\)/);
  assert.match(tell({ decay: 0 }), /g = 0: all that was there is gone/);
  assert.match(tell({ length: 2 }), /\|k₃\|² = 4 times/);
  assert.match(tell({}), /No key reads its value back\. Three keys in a plane .* k₁ reads 0\.707 times/);
  assert.match(tell({ write: "delta" }), /k₃ reads its value back; k₁ and k₂ do not/);
  assert.equal(tell({}, 0), "Nothing is written yet.");
  assert.equal(tell({}, 2), "v₂ is written under k₂. k₁ and k₂ read their values back.");
  const huge = [
    [1e6, -1e6],
    [1e6, 1e6],
    [-1e6, 1e6],
  ];
  for (const write of ["sum", "delta", "phi"])
    assert.ok(after({ values: huge, third: true, write }).asked.every(({ off }) => Number.isFinite(off)));
});
