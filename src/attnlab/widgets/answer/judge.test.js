import assert from "node:assert/strict";
import { test } from "node:test";
import { bounds, entered, judge, mistaken } from "./judge.js";

test("an entry is read as every other number", () => {
  assert.deepEqual(
    ["1/2", "-½", "2,048", "12 345,0", "1,2,3", ""].map((text) => entered(text)),
    [0.5, -0.5, 2048, 12345, NaN, NaN],
  );
  assert.ok(Number.isNaN(entered("2,048", 3)));
});

test("an entry is right, close for a reason, or wrong", () => {
  const is = (text, truth = 0.0903, decimals = 3) => judge(text, truth, 0.5 * 10 ** -decimals, decimals).is;
  assert.deepEqual(
    ["0.090", "0,09", "0.0898", "9/100"].map((text) => is(text)),
    ["right", "right", "right", "right"],
  );
  assert.deepEqual(
    ["0.1", "0.092"].map((text) => is(text)),
    ["close", "close"],
  );
  assert.deepEqual(
    ["0", "0.2", "-0.090", "9"].map((text) => is(text)),
    ["wrong", "wrong", "wrong", "wrong"],
  );
  // another answer is no rounding: of coarser ones, those with a decimal count
  assert.deepEqual(
    ["1", "0.8", "0.7"].map((text) => is(text, 0.75, 2)),
    ["wrong", "close", "close"],
  );
  assert.deepEqual(
    ["", " ", "x"].map((text) => is(text)),
    ["empty", "empty", "unread"],
  );
  assert.equal(judge("2,048", 2048, 0, 0).is, "right");
  assert.equal(judge("2,049", 2048, 0, 0).is, "wrong");
  assert.equal(judge("2,048", 2048, 0.05, 1).is, "unread");
  assert.match(judge("2,048", 2048, 0.05, 1).said, /2048 or 2\.048/);
  assert.deepEqual(judge("1/2", 0.5, 0.05, 1), { is: "right", said: "right", read: "“1/2” is read as 0.5." });
  assert.match(judge("-3", 3, 0, 0).said, /sign/);
  assert.equal(is("1/3", 1 / 3, 8), "right");
});

test("the first mistake that fits is named", () => {
  const mistakes = [
    [[1, null], "one"],
    [[1, 2], "both"],
    [[null, 3], "other"],
  ];
  assert.equal(mistaken(mistakes, ["1", ""], 0.01, 3)[1], "one");
  assert.equal(mistaken(mistakes, ["x", "3.004"], 0.01, 3)[1], "other");
  assert.equal(mistaken(mistakes, ["", ""], 0.01, 3), undefined);
});

test("what counts as right is said", () => {
  assert.match(bounds(0.0005, 3), /^Right to 3 decimals\./);
  assert.match(bounds(0.5, 0), /^Right to the nearest whole number\./);
  assert.match(bounds(0, 3), /^Right exactly\./);
  assert.match(bounds(0, 0), /^A whole number/);
  assert.match(bounds(0.01, 3), /^Right within 0.01\./);
});
