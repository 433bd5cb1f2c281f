import assert from "node:assert/strict";
import { test } from "node:test";
import { along, casesOf, largest, nearest, ordered, pieces, roomy } from "./maths.js";

const points = [
  [0.5, 0.1],
  [0.9, 0.1],
  [0.5, 0.4],
  [0, 1],
];

test("points in order, the first of equal ones first", () => {
  assert.deepEqual(ordered(points, 0), [3, 0, 2, 1]);
  assert.deepEqual(ordered(points, 1), [0, 1, 2, 3]);
  assert.deepEqual(largest(points, 3), [1, 0, 2]);
  assert.equal(along(points, 0, 0, 1), 2);
  assert.equal(along(points, 0, 1, 1), 1); // nothing is further
  assert.equal(along(points, 1, 2, -Infinity), 0);
});

test("the nearest point, and none that is too far", () => {
  assert.equal(nearest(points, 0.52, 0.12, 0.1), 0);
  assert.equal(nearest(points, 0.2, 0.7, 0.1), -1);
});

test("names keep away from each other", () => {
  assert.deepEqual(roomy(points, [1, 0, 2, 3], 0.45, 0.2), [1, 2, 3]);
});

test("a sentence is cut at two tokens, and nothing of it is lost", () => {
  const tokens = ["The", " cat", " saw", " the", " dog", "."];
  const cut = pieces(tokens, 3, 1);
  assert.deepEqual(
    cut.map(({ text, role }) => `${role}:${text}`),
    [":The ", "to:cat", ": saw ", "from:the", ": dog."],
  );
  assert.equal(cut.map(({ text }) => text).join(""), tokens.join(""));
  assert.deepEqual(pieces(["a", " b"], 1, 0)[0], { text: "a", role: "to" });
});

test("cases lie one after the other", () => {
  assert.deepEqual(casesOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 3, 1), [[5, 6, 7, 8]]);
});
