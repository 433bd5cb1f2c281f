// Beam search over anything that grows.

/** @import { Hypothesis, Search } from "../types.d.ts" */

/**
 * Beam search as attnbook.decoding's, one hypothesis after another: a generator that yields the
 * number of the word at which it is. `grow` gives the candidates that follow a hypothesis.
 * Returns each step's candidates best first, those kept and those ended so far, and the ranking by
 * log p / n^penalty. Of equals the better parent comes first, then the earlier candidate.
 * @param {Hypothesis} start
 * @param {{grow: (one: Hypothesis) => Hypothesis[], beam: number, penalty: number, eos: number, longest: number}} how
 * @returns {Generator<number, Search, void>}
 */
export function* beamSearch(start, { grow, beam, penalty, eos, longest }) {
  const scored = (n) => (one) => ({ one, n, score: one.logP / n ** penalty });
  const rank = (list) => list.sort((a, b) => b.score - a.score).slice(0, beam);
  const steps = [];
  let [living, ended, settled] = [[start], [], false];
  while (!settled && steps.length < longest) {
    const n = steps.length + 1;
    const all = [];
    for (const one of living) {
      yield n;
      all.push(...grow(one));
    }
    const kept = all.sort((a, b) => b.logP - a.logP).slice(0, beam);
    ended = rank([...ended, ...kept.filter(({ word }) => word === eos).map(scored(n))]);
    living = kept.filter(({ word }) => word !== eos);
    steps.push({ all, kept, ended });
    // log p never rises and n^penalty is greatest at the end: nothing living can do better
    const bound = living.length ? living[0].logP / longest ** penalty : -Infinity;
    settled = !living.length || (ended.length === beam && ended[beam - 1].score >= bound);
  }
  return { steps, ranking: rank([...ended, ...living.map(scored(steps.length))]) };
}

/** All words of a hypothesis, from the first on. @type {(one: Hypothesis) => Hypothesis[]} */
export const path = (one) => (one.before ? [...path(one.before), one] : []);
