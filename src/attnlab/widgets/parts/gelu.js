// The exact GELU: x times the normal distribution's share below x.

/**
 * The error function, to 1e-13, by a series of which no term has another's sign, so that none cancels.
 * @type {(x: number) => number}
 */
export function erf(x) {
  const square = x * x;
  if (square > 36) return Math.sign(x);
  let [term, sum] = [x, x]; // of NaN no comparison is true: the loop ends
  for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) {
    term *= (2 * square) / (2 * k + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-square) * sum;
}

/** @type {(x: number) => number} */
export const gelu = (x) => (x * (1 + erf(x / Math.SQRT2))) / 2;
