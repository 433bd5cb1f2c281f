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

/** Heads of raw scores from base64 of little-endian uint16, with each head's [lowest, highest]. */
export function dequantise(packed, ranges, size) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
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
