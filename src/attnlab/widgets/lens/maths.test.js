import assert from "node:assert/strict";
import { test } from "node:test";
import { added, at, last, rising } from "./maths.js";

const one = {
  tokens: ["a", "b"],
  names: ["x", "y", "z"],
  best: [
    [0, 1, 1, 2],
    [2, 0, 0, 1],
  ],
  chance: [
    [90, 5, 60, 20],
    [50, 40, 70, 10],
  ],
  last: [
    [2, 7],
    [50, 70],
  ],
  adds: [
    [
      [1, 2],
      [3, -4],
    ],
  ],
};

test("the words of a token at a step", () => {
  assert.deepEqual(at(one, 0, 1), [
    { name: "y", chance: 0.6 },
    { name: "z", chance: 0.2 },
  ]);
  assert.equal(last(one, 0), "z");
});

test("the word that is said at last is followed where it is not among the most probable", () => {
  assert.deepEqual(rising(one, 0), [0.02, 0.5]);
  assert.deepEqual(rising(one, 1), [0.07, 0.7]);
});

test("what a layer adds to a token's word", () => {
  assert.deepEqual(added(one, 1), [[2, -4]]);
});
