// Large data, loaded when the reader asks for it: the model's bytes in Jupyter, in a static page a
// classic script beside the widgets' own, which leaves base64 in globalThis.attnbookAssets.

import { bytesOf } from "../maths/packing.js";

/** @import { Store } from "../types.d.ts" */

/**
 * The bytes of the store's asset, as a promise; the page's script is asked for once.
 * @type {(store: Store) => Promise<Uint8Array>}
 */
export const assetOf = (store) => fileOf(store, store.get("asset"));

/**
 * The bytes of one file of an asset that is several; where all travel with the widget, it is those
 * from the place `from` up to `to`.
 * @type {(store: Store, name: string, from?: number, to?: number) => Promise<Uint8Array>}
 */
export async function fileOf(store, name, from = 0, to = undefined) {
  const carried = store.get("carried");
  if (carried?.byteLength) {
    return new Uint8Array(carried.buffer, carried.byteOffset, carried.byteLength).subarray(from, to);
  }
  globalThis.attnbookAssets ??= {};
  const all = globalThis.attnbookAssets;
  if (!all[name]) await loadScript(new URL(`assets/${name}.js`, globalThis.attnbookPlace));
  return bytesOf(all[name]);
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
