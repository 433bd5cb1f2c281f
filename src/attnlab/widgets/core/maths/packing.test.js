// What is packed by hand here, Python packs by core/packing.py; tests/attnlab/widgets compares the two.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, unpackLogs, unpackRows, unpackScores, unpackTensors } from "./packing.js";

const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

test("scores lie between the lowest and the highest of their head", () => {
  const packed = base64([0, 0, 255, 255, 0, 0, 255, 255]);
  assert.deepEqual(
    unpackScores(
      packed,
      [
        [-1, 1],
        [2, 2],
      ],
      2,
    ).map((head) => [...head]),
    [
      [-1, 1],
      [2, 2],
    ],
  );
});

test("log-weights begin where they are said to, little end first", () => {
  const bytes = Uint8Array.of(9, 9, 255, 255, 0, 0, 0, 128);
  const [one, nothing, half] = unpackLogs(bytes, 1, 3);
  assert.equal(Math.exp(one), 1);
  assert.equal(nothing, -20);
  assert.ok(Math.abs(half + 10) < 1e-3);
});

test("a tensor's upper and lower bits are put together again", () => {
  const [matrix, vector] = unpackTensors(
    base64([0, 0, 255, 255, 1, 0]),
    base64([0, 255, 0]),
    [
      [0, 16777215],
      [0, 16777215],
    ],
    [[1, 2], [1]],
  );
  assert.deepEqual([...matrix], [0, 16777215]);
  assert.deepEqual([...vector], [256]);
});

test("rows have a lowest and a step of their own, vectors their very numbers", () => {
  const floats = new Uint8Array(Float32Array.of(1, 10, 0.5, 1, 7).buffer);
  const [matrix, vector] = unpackRows(Uint8Array.of(...floats, 0, 2, 1, 255), [[2, 2], [1]]);
  assert.deepEqual([...matrix], [1, 2, 11, 265]);
  assert.deepEqual([...vector], [7]);
  assert.throws(() => unpackRows(new Uint8Array(3), [[2, 2]]), /another model/);
});

test("base64 gives its bytes back", () => assert.deepEqual([...bytesOf("AAH/")], [0, 1, 255]));
