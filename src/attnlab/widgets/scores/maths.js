// Four scores of a query and a key, and where on the plane of keys a score is the same.

import { attend, dot } from "../core/maths/nn.js";

/** @import { Rows } from "../core/types.d.ts" */

/**
 * Dot, scaled dot, bilinear and additive score of one query, each as a function of the key.
 * @param {{query: number[], w: Rows, w_q: Rows, w_k: Rows, v: number[], tanh: boolean}} given
 * @returns {((key: number[]) => number)[]}
 */
export function fourScores({ query, w, w_q: wQ, w_k: wK, v, tanh }) {
  const asked = attend(query, w); // q W
  const start = attend(query, wQ); // q W_q
  const bend = tanh ? Math.tanh : (x) => x;
  return [
    (key) => dot(query, key),
    (key) => dot(query, key) / Math.sqrt(query.length),
    (key) => dot(asked, key),
    (key) =>
      dot(
        v,
        attend(key, wK).map((x, c) => bend(start[c] + x)),
      ),
  ];
}

/**
 * A function of the plane on a lattice from −edge to edge: rows of points [x, y, value].
 * @type {(f: (point: number[]) => number, edge: number, cells: number) => number[][][]}
 */
export function sampled(f, edge, cells) {
  const steps = Array.from({ length: cells + 1 }, (_, step) => ((2 * step) / cells - 1) * edge);
  return steps.map((y) => steps.map((x) => [x, y, f([x, y])]));
}

/**
 * Where a sampled function takes the level: short straight pieces [[x1, y1], [x2, y2]].
 * @type {(points: number[][][], level: number) => Rows[]}
 */
export function levelLine(points, level) {
  const low = level - 1e-9; // so that rounding alone never draws a line
  const pieces = [];
  for (let r = 1; r < points.length; r++) {
    const [above, row] = [points[r - 1], points[r]];
    for (let c = 1; c < row.length; c++) {
      const below = row[c][2] < low; // a cell whose corners are all alike is passed over
      if (row[c - 1][2] < low === below && above[c - 1][2] < low === below && above[c][2] < low === below) continue;
      const corners = [above[c - 1], above[c], row[c], row[c - 1]];
      const cut = corners.flatMap(([x, y, value], side) => {
        const [toX, toY, next] = corners[(side + 1) % 4];
        if (value < low === next < low) return [];
        const share = (low - value) / (next - value);
        return [[x + share * (toX - x), y + share * (toY - y)]];
      });
      for (let k = 0; k < cut.length; k += 2) pieces.push([cut[k], cut[k + 1]]);
    }
  }
  return pieces;
}
