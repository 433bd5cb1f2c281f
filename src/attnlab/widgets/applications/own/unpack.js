// Weights of 12 bits out of bytes: what Python's own/weights.py packs.

/** Four codes of six bits out of each three bytes, added to `codes`, each times `by`. */
function six(bytes, from, codes, by) {
  for (let at = from, to = 0; to < codes.length; at += 3) {
    const whole = (bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2];
    codes[to++] += by * (whole >> 18);
    codes[to++] += by * ((whole >> 12) & 63);
    codes[to++] += by * ((whole >> 6) & 63);
    codes[to++] += by * (whole & 63);
  }
}

/** How many bytes tensors of these shapes take. @type {(shapes: number[][]) => {floats: number, codes: number, size: number}} */
export function taken(shapes) {
  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
  const floats = sum(shapes.map(([rows, columns]) => (columns ? 2 * rows : rows)));
  const codes = 4 * Math.ceil(sum(shapes.map(([rows, columns = 0]) => rows * columns)) / 4);
  return { floats, codes, size: 3 * Math.ceil((4 * floats) / 3) + (codes * 6) / 4 };
}

/**
 * Tensors, flat: float32 of vectors and of each row's lowest and step, then the codes.
 * @type {(bytes: Uint8Array, shapes: number[][]) => Float32Array[]}
 */
export function unpack(bytes, shapes) {
  const { floats, codes: count, size } = taken(shapes);
  if (bytes.length < size) throw new Error("the weights are those of another model");
  const exact = new Float32Array(bytes.slice(0, 4 * floats).buffer);
  const codes = new Uint16Array(count);
  six(bytes, size - (count * 6) / 4, codes, 64);
  six(bytes, size - (count * 3) / 4, codes, 1);
  let [at, code] = [0, 0];
  return shapes.map(([rows, columns]) => {
    const numbers = exact.subarray(at, at + (columns ? 2 * rows : rows));
    at += numbers.length;
    if (!columns) return numbers;
    const out = new Float32Array(rows * columns);
    for (let r = 0; r < rows; r++) {
      const [low, step] = [numbers[r], numbers[rows + r]];
      for (let c = r * columns; c < (r + 1) * columns; c++) out[c] = low + step * codes[code++];
    }
    return out;
  });
}
