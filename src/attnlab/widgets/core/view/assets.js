// Large data, loaded when the reader asks for it: the model's bytes in Jupyter, in a static page a
// classic script beside the widgets' own, which leaves base64 in globalThis.attnbookAssets.

import { bytesOf } from "../maths/packing.js";

/** @import { Store } from "../types.d.ts" */

/**
 * The bytes of the store's asset, or of another file of one that is several; the page's script is
 * asked for once. Where all travel with the widget, a file is what lies between two places.
 * @type {(store: Store, name?: string, ...place: [number?, number?]) => Promise<Uint8Array>}
 */
export async function assetOf(store, name = store.get("asset"), ...place) {
  const carried = store.get("carried");
  if (carried?.byteLength) {
    return new Uint8Array(carried.buffer, carried.byteOffset, carried.byteLength).subarray(...place);
  }
  const there = () => globalThis.attnbookAssets?.[name];
  if (!there()) await loadScript(new URL(`assets/${name}.js`, globalThis.attnbookPlace));
  return bytesOf(there());
}

const loadScript = (url) =>
  new Promise((done, fail) => {
    const script = document.createElement("script");
    script.onload = done;
    script.onerror = () => {
      script.remove();
      fail(new Error(`${url} could not be loaded`));
    };
    script.src = url;
    document.head.append(script);
  });

/** A size in words: 0.9 MB, 140 KB. @type {(bytes: number) => string} */
export const sizeText = (bytes) => (bytes < 1e6 ? `${Math.round(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`);
