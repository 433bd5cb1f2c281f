// Beam search over a tree of letters; tests/attnlab/widgets compares it with attnbook.decoding.

import assert from "node:assert/strict";
import { test } from "node:test";
import { tableSearch } from "../../beam/maths.js";
import { beamSearch, path } from "./beam.js";

const [A, B, END] = [0, 1, 2];
// greedy takes A (0.6), but B and its certain end are likelier than A and either of its own
const NEXT = {
  "": [
    [A, 0.6],
    [B, 0.4],
  ],
  [A]: [
    [A, 0.5],
    [END, 0.5],
  ],
  [B]: [[END, 1]],
};
const grow = (before) =>
  (
    NEXT[
      path(before)
        .map(({ word }) => word)
        .join("")
    ] ?? [[END, 1]]
  ).map(([word, p]) => ({ before, word, logP: before.logP + Math.log(p) }));

function found(beam, penalty = 0, longest = 3) {
  const work = beamSearch({ logP: 0 }, { grow, beam, penalty, eos: END, longest });
  const asked = [];
  for (;;) {
    const { done, value } = work.next();
    if (done) return { ...value, asked };
    asked.push(value);
  }
}

const words = ({ one }) => path(one).map(({ word }) => word);

test("a beam of two finds what greedy search misses", () => {
  assert.deepEqual(words(found(1).ranking[0]), [A, A, END]);
  const {
    ranking: [best],
  } = found(2);
  assert.deepEqual(words(best), [B, END]);
  assert.ok(Math.abs(best.score - Math.log(0.4)) < 1e-12);
});

test("a length penalty divides by the number of words, to its power", () => {
  const {
    ranking: [best],
  } = found(2, 1);
  assert.equal(best.n, words(best).length);
  assert.ok(Math.abs(best.score - best.one.logP / best.n) < 1e-12);
});

test("it stops between hypotheses, so that a page stays alive", () =>
  assert.deepEqual(found(2).asked.slice(0, 3), [1, 2, 2]));

test("what is cut off at the greatest length is ranked too, unfinished", () => {
  const {
    ranking: [best],
    steps,
  } = found(1, 0, 2);
  assert.equal(steps.length, 2);
  assert.deepEqual(words(best), [A, A]);
});

test("a table is searched as a tree, and what has no probability is never a candidate", () => {
  const table = {
    prefixes: [
      [-1, -1],
      [0, A],
    ],
    wordsOf: [[A, B], [END]],
    logs: [[0, null], [0]],
  };
  const {
    steps,
    ranking: [best],
  } = tableSearch({ ...table, beam: 2, penalty: 0, eos: END, longest: 2 });
  assert.equal(steps[0].all.length, 1);
  assert.deepEqual(words(best), [A, END]);
});
