// Beam search.

/**
 * Beam search over a table of next words: row r of it, wordsOf[r] with the log-probabilities
 * logs[r] (null is −∞), belongs to the prefix prefixes[r] = [row without its last word, that word].
 * Returns each step's candidates best first, those kept and those ended so far, and the ranking by
 * log p / n^penalty. Of equals the better parent comes first, then the lower word.
 */
export function beamSearch({ prefixes, wordsOf, logs, beam, penalty, eos, longest }) {
  const rowOf = new Map(prefixes.map(([row, word], at) => [`${row} ${word}`, at]));
  const grow = (before) => wordsOf[before.row].map((word, at) => {
    const log = logs[before.row][at];
    return { before, word, log, logP: before.logP + log, row: rowOf.get(`${before.row} ${word}`) };
  });
  const scored = (n) => (one) => ({ one, n, score: one.logP / n ** penalty });
  const rank = (list) => list.sort((a, b) => b.score - a.score).slice(0, beam);
  const steps = [];
  let living = [{ row: 0, logP: 0 }];
  let ended = [];
  let settled = false;
  while (!settled && steps.length < longest) {
    const n = steps.length + 1;
    const all = living.flatMap(grow).filter(({ log }) => log !== null)
      .sort((a, b) => b.logP - a.logP);
    const kept = all.slice(0, beam);
    ended = rank([...ended, ...kept.filter(({ word }) => word === eos).map(scored(n))]);
    living = kept.filter(({ word }) => word !== eos);
    steps.push({ all, kept, ended });
    // log p never rises and n^penalty is greatest at the end: nothing living can do better
    const bound = living.length ? living[0].logP / longest ** penalty : -Infinity;
    settled = !living.length || (ended.length === beam && ended[beam - 1].score >= bound);
  }
  return { steps, ranking: rank([...ended, ...living.map(scored(steps.length))]) };
}
