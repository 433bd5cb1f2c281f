// Numbers out of bytes: what Python's `core/packing.py` packs is unpacked here.

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
