// Numbers out of bytes: what Python's core/packing.py packs is unpacked here.

/** @import { Range } from "../types.d.ts" */

/** The bytes that base64 stands for. @type {(packed: string) => Uint8Array<ArrayBuffer>} */
export function bytesOf(packed) {
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  // twenty times as fast as Uint8Array.from: an asset has millions
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/**
 * `count` numbers of 16 bits each, little-endian, from the place `from` on.
 * @type {(bytes: Uint8Array, from: number, count: number) => Float64Array}
 */
function halves(bytes, from, count) {
  const view = new DataView(bytes.buffer, bytes.byteOffset + 2 * from);
  return Float64Array.from({ length: count }, (_, at) => view.getUint16(2 * at, true));
}

/**
 * Heads of raw scores, `size` numbers each, from base64 and each head's [lowest, highest].
 * @type {(packed: string, ranges: Range[], size: number) => Float64Array[]}
 */
export function unpackScores(packed, ranges, size) {
  const bytes = bytesOf(packed);
  return ranges.map(([low, high], h) => {
    const step = (high - low) / 65535;
    return halves(bytes, h * size, size).map((whole) => low + step * whole);
  });
}

const LEAST = -20; // the logarithm of a weight that counts as 0

/**
 * `count` log-weights from the place `from` on: 0 is LEAST, 65535 is 0.
 * @type {(bytes: Uint8Array, from: number, count: number) => Float64Array}
 */
export const unpackLogs = (bytes, from, count) =>
  halves(bytes, from, count).map((whole) => LEAST * (1 - whole / 65535));

/**
 * Tensors, flat, from base64 of the upper 16 and of the lower 8 bits of each entry, with each
 * tensor's [lowest, highest] and its shape.
 * @type {(packed: string, fine: string, ranges: Range[], shapes: number[][]) => Float64Array[]}
 */
export function unpackTensors(packed, fine, ranges, shapes) {
  const [upper, lower] = [bytesOf(packed), bytesOf(fine)];
  let at = 0;
  return shapes.map(([rows, columns = 1], place) => {
    const [low, high] = ranges[place];
    const count = rows * columns;
    const found = halves(upper, at, count).map(
      (half, c) => low + ((256 * half + lower[at + c]) * (high - low)) / 16777215,
    );
    at += count;
    return found;
  });
}

/**
 * Tensors, flat: float32 of vectors and of each row's lowest and step, then the codes.
 * @type {(bytes: Uint8Array, shapes: number[][]) => Float32Array[]}
 */
export function unpackRows(bytes, shapes) {
  const counts = shapes.map(([rows, columns]) => (columns ? 2 * rows : rows));
  const floats = counts.reduce((sum, count) => sum + count, 0);
  const size = shapes.reduce((sum, [rows, columns = 0]) => sum + rows * columns, 4 * floats);
  if (bytes.length !== size) throw new Error("the weights are those of another model");
  const exact = new Float32Array(bytes.slice(0, 4 * floats).buffer);
  let [at, byte] = [0, 4 * floats];
  return shapes.map(([rows, columns], place) => {
    const numbers = exact.subarray(at, at + counts[place]);
    at += counts[place];
    if (!columns) return numbers;
    const out = new Float32Array(rows * columns);
    for (let r = 0; r < rows; r++) {
      const [low, step] = [numbers[r], numbers[rows + r]];
      for (let c = r * columns; c < (r + 1) * columns; c++) out[c] = low + step * bytes[byte++];
    }
    return out;
  });
}
