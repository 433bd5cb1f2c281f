// Beam search over a table of next words, tested against attnbook.decoding.

import { beamSearch } from "../core/maths/beam.js";

/** @import { Rows, Search } from "../core/types.d.ts" */

/**
 * Search a table: row r of it, wordsOf[r] with the log-probabilities logs[r] (null is −∞), belongs
 * to the prefix prefixes[r] = [row without its last word, that word].
 * @param {{prefixes: Rows, wordsOf: Rows, logs: (number|null)[][], beam: number, penalty: number, eos: number, longest: number}} table
 * @returns {Search}
 */
export function tableSearch({ prefixes, wordsOf, logs, ...how }) {
  const rowOf = new Map(prefixes.map(([row, word], at) => [`${row} ${word}`, at]));
  const grow = (before) =>
    wordsOf[before.row].flatMap((word, at) => {
      const log = logs[before.row][at];
      if (log === null) return [];
      const row = rowOf.get(`${before.row} ${word}`);
      return { before, word, log, logP: before.logP + log, row };
    });
  const work = beamSearch({ row: 0, logP: 0 }, { grow, ...how });
  for (;;) {
    const found = work.next();
    if (found.done) return found.value;
  }
}
