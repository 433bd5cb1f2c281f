import assert from "node:assert/strict";
import { test } from "node:test";
import { digits, many, sized, timed } from "../parts/units.js";
import { round } from "./draw.js";
import { step } from "./maths.js";

const machine = { name: "H", bytes_a_second: 100, operations_a_second: 3000, memory: 500 };
const model = { name: "M", parameters: 120, numbers: 2, pairs: 5, unread: 20, routed: 0, chosen: 1 };
const call = { texts: 3, tokens: 2, cached: 8, weight_bits: 16, cache_bits: 8 };

test("a step by hand", () => {
  const now = step(model, machine, call);
  assert.equal(now.weights, 200); // 100 weights of 2 bytes
  assert.equal(now.caches, 60); // 3 texts of 10 tokens, 2 numbers of a byte
  assert.equal(now.products, 2 * 100 * 6);
  assert.equal(now.attention, 2 * 5 * 3 * (2 * 8 + 3)); // the second token sees the first
  assert.equal(now.memory, 2.6);
  assert.equal(now.arithmetic, (1200 + 570) / 3000);
  assert.equal(now.seconds, 2.6);
  assert.equal(now.speed, 6 / 2.6);
  assert.equal(now.held, 300); // the input's table lies there too
  assert.equal(now.room, 13); // (500 - 240) / 20
  assert.ok(step({ ...model, parameters: 251 }, machine, call).room < 0);
});

test("experts are read once tokens ask for them", () => {
  const mixed = { ...model, routed: 80, chosen: 0.25 };
  const read = (texts) => step(mixed, machine, { ...call, texts, tokens: 1 }).weights / 2;
  assert.deepEqual([1, 2].map(read), [40, 55]);
  assert.equal(Math.round(read(100)), 100);
  assert.equal(step(mixed, machine, call).products, 2 * 40 * 6);
});

test("an axis ends at a round number", () => {
  assert.deepEqual([1, 1.01, 3, 7, 0.2].map(round), [1, 2, 5, 10, 0.2]);
});

test("numbers have three digits and their unit", () => {
  assert.deepEqual([500, 17_179_869_184].map(sized), ["500 bytes", "17.2 GB"]);
  assert.deepEqual([4.8e-3, 1.2e-10, 2000].map(timed), ["4.80 ms", "0.12 ns", "2,000 s"]);
  assert.deepEqual([12, 15e9, 9.89e14].map(many), ["12", "15.0 billion", "989 trillion"]);
  assert.deepEqual([12.25, 0.125, 99.95].map(digits), ["12.3", "0.13", "100"]);
});
