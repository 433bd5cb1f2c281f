// The mathematics by hand-sized examples; the comparison with PyTorch is in tests/attnlab/widgets.

import assert from "node:assert/strict";
import { test } from "node:test";
import { affine, attend, entropy, layerNorm, mask, mean, product, rowAt, softmax, weights } from "./nn.js";

const near = (found, wanted, far = 1e-12) =>
  Array.from(wanted).forEach((value, at) => {
    assert.ok(Math.abs(found[at] - value) <= far, `${found} is not ${wanted}`);
  });

test("a softmax sums to 1, survives large scores, and is empty where nothing may be seen", () => {
  near(softmax([0, Math.log(3)]), [0.25, 0.75]);
  near(softmax([-1e308, 1e308]), [0, 1]);
  near(softmax([5, 1, 2], [false, true, false]), [0, 1, 0]);
  near(softmax([1, 2], [false, false]), [0, 0]);
});

test("a causal mask is aligned at the bottom right, and a given one is kept", () => {
  assert.deepEqual([...mask(2, 3, true)], [1, 1, 0, 1, 1, 1]);
  assert.deepEqual([...mask(2, 2, true, [0, 1, 1, 1])], [0, 0, 1, 1]);
});

test("weights of a matrix are the softmax of each row, divided first", () => {
  const all = weights([0, 2 * Math.log(3), 7, 7], 2, 2, mask(2, 2), 2);
  near(all, [0.25, 0.75, 0.5, 0.5]);
  near(rowAt(all, 1, 2), [0.5, 0.5]);
});

test("vectors are mixed by weights and by matrices", () => {
  const values = [
    [1, 2],
    [3, 6],
  ];
  near(attend([0.5, 0.5], values), [2, 4]);
  near(product([[1, 1]], values)[0], [4, 8]);
});

test("an affine map is W x + b, or some of its rows, in the numbers' own precision", () => {
  const weight = Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  const x = [1, 1, 1, 1, 2];
  near(affine({ weight, bias: Float64Array.of(1, 0) }, x), [21, 50]);
  near(affine({ weight }, x, 1), [50]);
  assert.ok(affine({ weight: new Float32Array(weight) }, x) instanceof Float32Array);
});

test("LayerNorm has mean 0 and variance 1 before its gain and shift", () => {
  near(layerNorm([1, 3], [1, 1], [0, 0], 0), [-1, 1]);
  near(layerNorm([1, 3], [2, 2], [5, 5], 0), [3, 7]);
  near(layerNorm([4, 4], [1, 1], [0, 0], 1e-5), [0, 0]);
});

test("entropy of n equal weights is ln n, and a mean is taken entry by entry", () => {
  assert.ok(Math.abs(Math.exp(entropy([0.25, 0.25, 0.25, 0.25])) - 4) < 1e-12);
  assert.equal(entropy([0, 1]), 0);
  near(mean([Float64Array.of(0, 1), Float64Array.of(1, 0)]), [0.5, 0.5]);
});
