// The mathematics, and nothing else: pure functions on plain numbers, tested against PyTorch.
// Big matrices are flat, row after row: entry (i, j) of an n_q × n_k matrix is at i·n_k + j.

export const dot = (a, b) => a.reduce((sum, x, c) => sum + x * b[c], 0);

/** Raw scores e = q kᵀ of two lists of vectors, as rows. */
export const scores = (query, key) => query.map((q) => key.map((k) => dot(q, k)));

/** What a score is divided by before the softmax: √d (where scaled) times temperature. */
export const divisor = (d, scaled, temperature = 1) => (scaled ? Math.sqrt(d) : 1) * temperature;

export const scale = (row, by) => row.map((score) => score / by);

/** Which key each query may attend to, flat, 1 = may. Causal: the last query sees every key. */
export function mask(nQ, nK, causal = false, given = null) {
  const may = new Uint8Array(nQ * nK).fill(1);
  for (let i = 0; i < nQ; i++) {
    for (let j = 0; j < nK; j++) {
      const at = i * nK + j;
      if ((given && !given[at]) || (causal && j > i + nK - nQ)) may[at] = 0;
    }
  }
  return may;
}

/** Softmax of one row of flat scores / by, into out; a row with no allowed key becomes zeros. */
function softmaxInto(out, flat, may, start, length, by) {
  let top = -Infinity;
  for (let at = start; at < start + length; at++) {
    if (may[at] && flat[at] > top) top = flat[at];
  }
  let total = 0;
  for (let at = start; at < start + length; at++) {
    out[at] = may[at] ? Math.exp((flat[at] - top) / by) : 0; // at most exp(0): no overflow
    total += out[at];
  }
  if (total > 0) for (let at = start; at < start + length; at++) out[at] /= total;
}

/** Row i of a flat matrix; the same memory. */
export const rowAt = (flat, i, nK) => flat.subarray(i * nK, (i + 1) * nK);

/** Weights α = softmax(flat / by) of a whole matrix; out may be given to save the memory. */
export function weights(flat, nQ, nK, may, by, out = new Float64Array(nQ * nK)) {
  for (let i = 0; i < nQ; i++) softmaxInto(out, flat, may, i * nK, nK, by);
  return out;
}

/** Softmax of one short row, over the keys whose may[j] is true. */
export function softmax(row, may = row.map(() => true)) {
  return Array.from(weights(row, 1, row.length, may, 1));
}

/** The weighted sum of vectors: y = Σ α_j v_j. */
export const attend = (row, values) =>
  values[0].map((_, c) => row.reduce((sum, weight, j) => sum + weight * values[j][c], 0));

/** The bytes that base64 stands for. */
export const bytesOf = (packed) => Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));

/** Heads of raw scores from base64 of little-endian uint16, with each head's [lowest, highest]. */
export function dequantise(packed, ranges, size) {
  const view = new DataView(bytesOf(packed).buffer);
  return ranges.map(([low, high], h) => {
    const step = (high - low) / 65535;
    return Float64Array.from({ length: size }, (_, at) => {
      return low + step * view.getUint16(2 * (h * size + at), true);
    });
  });
}

/** All that attention does for one query of `vectors`, each stage kept: the steps widget. */
export function worked({ vectors, query, scaled, causal }) {
  const raw = vectors.map((key) => dot(vectors[query], key));
  const ready = scale(raw, divisor(vectors[0].length, scaled));
  const may = vectors.map((_, j) => !causal || j <= query);
  const row = softmax(ready, may);
  return { raw, ready, may, weights: row, output: attend(row, vectors) };
}

/** Masks by name: may position p (the query's, the two sequences ending together) see key j? */
export const MASKS = {
  all: () => true,
  causal: (p, j) => j <= p,
  past: (p, j) => j < p,
  padding: (p, j, length) => j < length,
  both: (p, j, length) => j <= p && j < length,
  window: (p, j) => p - 2 < j && j <= p,
};

/** A mask by name, flat, as zeros and ones. */
export function namedMask(name, nQ, nK, length = nK) {
  return Array.from({ length: nQ * nK }, (_, at) =>
    Number(MASKS[name](Math.floor(at / nK) + nK - nQ, at % nK, length)));
}

/** What a masked score becomes before the softmax; "none" and "nan" differ in empty rows only. */
const FILLS = { none: -Infinity, nan: -Infinity, "-1e10": -1e10, zero: 0 };

/** Weights of flat scores / by under a mask, as they come out when masked scores are filled. */
export function filledWeights(flat, nQ, nK, may, by, fill) {
  const left = fill === "none" || fill === "nan";
  const entered = left ? flat : flat.map((score, at) => (may[at] ? score / by : FILLS[fill]));
  const out = left ? weights(flat, nQ, nK, may, by)
    : weights(entered, nQ, nK, new Uint8Array(nQ * nK).fill(1), 1);
  if (fill === "nan") for (const i of emptyRows(nQ, nK, may)) out.fill(NaN, i * nK, (i + 1) * nK);
  return out;
}

/** The rows that may attend to nothing. */
export const emptyRows = (nQ, nK, may) => Array.from({ length: nQ }, (_, i) => i)
  .filter((i) => !rowAt(may, i, nK).includes(1));

/** ∂α/∂e = α (1 − α); a masked score was replaced by a constant, so nothing flows back to it. */
export const gradient = (values, may) =>
  values.map((weight, at) => (may[at] ? weight * (1 - weight) : 0));

/** Rows of vectors times a matrix: (n, d) (d, k) → (n, k). */
export const product = (rows, matrix) => rows.map((row) => attend(row, matrix));

/** The ones of an identity matrix, in any shape: as many as fit on the diagonal. */
export const identity = (rows, columns) => Array.from({ length: rows }, (_, r) =>
  Array.from({ length: columns }, (__, c) => Number(r === c)));

/** The first pair i < j with the widest gap between e_ij and e_ji; null where e is symmetric. */
export function lopsided(e) {
  const near = 1e-9;
  const gaps = e.flatMap((row, i) => row.slice(i + 1).map((score, after) => {
    const j = i + 1 + after;
    return { i, j, gap: Math.abs(score - e[j][i]) };
  }));
  const widest = Math.max(0, ...gaps.map(({ gap }) => gap));
  if (widest <= near * Math.max(...e.flat().map(Math.abs))) return null;
  return gaps.find(({ gap }) => gap >= (1 - near) * widest);
}

/** Attention with a query, a key and a value for each vector, each stage kept. */
export function roles({ vectors, w_q: wQ, w_k: wK, w_v: wV, scaled, causal }) {
  const [q, k, v] = [wQ, wK, wV].map((matrix) => product(vectors, matrix));
  const n = vectors.length;
  const raw = scores(q, k);
  const by = divisor(wQ[0].length, scaled);
  const ready = raw.map((row) => scale(row, by));
  const may = mask(n, n, causal);
  const flat = weights(raw.flat(), n, n, may, by);
  const rows = vectors.map((_, i) => Array.from(rowAt(flat, i, n)));
  return { q, k, v, raw, ready, may, weights: rows, output: product(rows, v) };
}

/** The average of several matrices of weights, entry by entry, into out. */
export function mean(matrices, out = new Float64Array(matrices[0].length)) {
  out.fill(0);
  for (const values of matrices) {
    for (let at = 0; at < out.length; at++) out[at] += values[at] / matrices.length;
  }
  return out;
}

/** How far below its threshold a weight is still a link: so exactly are packed weights carried. */
const NEAR = 1e-4;

/** The places of all weights α ≥ θ: the links that a threshold predicts. */
export const linksAt = (values, threshold) =>
  Array.from(values.keys()).filter((at) => values[at] >= threshold - NEAR);

/** The place of each row's greatest weight, the first if equal. */
export const greatest = (values, nK) => Array.from({ length: values.length / nK }, (_, i) => {
  const row = rowAt(values, i, nK);
  return i * nK + row.indexOf(Math.max(...row));
});

/** Error rate, precision and recall of pairs of [links, gold links]; null for 0 / 0. */
export function agreement(pairs) {
  let [both, found, wanted] = [0, 0, 0];
  for (const [links, gold] of pairs) {
    both += links.filter((at) => gold.includes(at)).length;
    found += links.length;
    wanted += gold.length;
  }
  const share = (part, whole) => (whole ? part / whole : null);
  const agreed = share(2 * both, found + wanted);
  return [agreed === null ? null : 1 - agreed, share(both, found), share(both, wanted)];
}

/** Entropy −Σ α ln α of one row of weights, in nats; exp of it is a number of keys. */
export const entropy = (row) =>
  row.reduce((sum, weight) => (weight > 0 ? sum - weight * Math.log(weight) : sum), 0);

/** Dot, scaled dot, bilinear and additive score of one query, each as a function of the key. */
export function fourScores({ query, w, w_q: wQ, w_k: wK, v, tanh }) {
  const asked = attend(query, w); // q W
  const start = attend(query, wQ); // q W_q
  const bend = tanh ? Math.tanh : (x) => x;
  return [
    (key) => dot(query, key),
    (key) => dot(query, key) / Math.sqrt(query.length),
    (key) => dot(asked, key),
    (key) => dot(v, attend(key, wK).map((x, c) => bend(start[c] + x))),
  ];
}

/** A function of the plane on a lattice from −edge to edge: rows of points [x, y, value]. */
export function sampled(f, edge, cells) {
  const steps = Array.from({ length: cells + 1 }, (_, step) => (2 * step / cells - 1) * edge);
  return steps.map((y) => steps.map((x) => [x, y, f([x, y])]));
}

/** Where a sampled function takes the level: short straight pieces [[x1, y1], [x2, y2]]. */
export function levelLine(points, level) {
  const low = level - 1e-9; // so that rounding alone never draws a line
  const pieces = [];
  points.slice(1).forEach((row, r) => row.slice(1).forEach((corner, c) => {
    const corners = [points[r][c], points[r][c + 1], corner, row[c]];
    const cut = corners.flatMap(([x, y, value], side) => {
      const [toX, toY, next] = corners[(side + 1) % 4];
      if ((value < low) === (next < low)) return [];
      const share = (low - value) / (next - value);
      return [[x + share * (toX - x), y + share * (toY - y)]];
    });
    for (let k = 0; k < cut.length; k += 2) pieces.push([cut[k], cut[k + 1]]);
  }));
  return pieces;
}

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
