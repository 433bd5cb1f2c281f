// What is said of a run, and how a text is read; what is computed is in tests/attnlab/widgets.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bend, due, nameOf } from "./course.js";
import { apart } from "./curves.js";
import { understood } from "./texts.js";
import { broke, guessed, numbers, said, warned } from "./words.js";

const USUAL = { layers: 2, heads: 1, rate: 0.005, symbols: 12, shortest: 4, longest: 9, seed: 0 };

test("a text is read by words where it has blanks, else by letters, and what cannot be read is said", () => {
  assert.deepEqual(understood("do re  mi do").ids, [0, 1, 2, 0]);
  assert.deepEqual(understood(" añaña ").names, ["a", "ñ", "a", "ñ", "a"]);
  assert.match(understood("").why, /at least 2 symbols is wanted, and this has 0/);
  assert.match(understood("x".repeat(21)).why, /at most 20 symbols are read, and this has 21/);
  assert.match(understood("abcdefghijklm").why, /at most 12 different symbols are known, and this has 13/);
});

test("the line is of what goes on, from the first step", () => {
  assert.equal(said({ step: 0, running: true, off: [] }), "It learns.");
  assert.match(said({ step: 0, running: false, off: [] }), /^Nothing is learned yet/);
});

test("a run is called by what is not as usual", () => {
  assert.equal(nameOf(USUAL), "two layers");
  assert.equal(nameOf({ ...USUAL, layers: 1, heads: 4, seed: 3 }), "one layer, four heads, seed 3");
  assert.equal(
    nameOf({ ...USUAL, rate: 0.1, symbols: 1, longest: 30 }),
    "two layers, rate 0.1, 1 symbol, period to 30",
  );
});

test("the bend is halfway down, and a point is due at each twentieth step", () => {
  const points = [null, 2.4, 2.2, 1.7, 1.2, 1.2].map((loss, at) => [20 * at, loss]);
  assert.equal(bend(points), 60);
  assert.equal(bend(points.slice(0, 2)), null);
  assert.deepEqual([-1, 0, 19, 20].map(due), [0, 20, 20, 40]);
});

test("the loss is said to be that of all heads where some are off", () => {
  const now = { step: 800, loss: 1.224, whole: { before: 0.82, fresh: 0.08 }, less: { before: 0.35, fresh: 0.09 } };
  assert.match(numbers({ ...now, less: now.whole, off: [] }), /: loss 1\.22; right 0\.82; where/);
  assert.match(
    numbers({ ...now, off: [[0, 0]] }),
    /: right 0\.35, with all heads 0\.82 and the loss 1\.22; where the symbol is new, 0\.09\./,
  );
});

test("what goes wrong is named", () => {
  const now = { ...USUAL, broken: "", step: 3, worst: 4.5e9, even: 2.48 };
  assert.match(broke({ ...now, rate: 10 }), /went up to 4\.5 · 10\^9; that of an even guess is 2\.48/);
  assert.match(broke({ ...now, broken: "the loss is NaN" }), /Stopped before step 4: the loss is NaN/);
  assert.equal(broke({ ...now, worst: 2.7 }), "");
  const texts = { ...USUAL, length: 20, kinds: 6 };
  assert.equal(warned(texts), "");
  assert.match(warned({ ...texts, symbols: 1 }), /one symbol/);
  assert.match(warned({ ...texts, shortest: 25, longest: 40 }), /would begin after 25 symbols at the earliest/);
  assert.match(warned({ ...texts, shortest: 40, longest: 5 }), /Periods above 20/);
  assert.match(warned({ ...texts, symbols: 4 }), /of your text's 6/);
});

test("a guess is a symbol of the text, or one that it does not have", () => {
  const guesses = [1, 0, 5].map((symbol) => ({ symbol, p: 1 }));
  assert.deepEqual(guessed(["a", "b", "a"], [0, 1, 0], guesses, 12), [
    { name: "b", right: true },
    { name: "a", right: true },
    { name: "?", right: null },
  ]);
});

test("names at the ends of curves keep apart, and stay within", () => {
  assert.deepEqual(apart([10, 12, 50], 0, 60), [10, 23, 50]);
  assert.deepEqual(apart([58, 60], 0, 60), [47, 60]);
});
