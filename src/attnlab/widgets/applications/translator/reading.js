// What a model reads and writes: words of two vocabularies, or pieces that both languages share.

import { cut, joinedPieces, tableOf } from "./pieces.js";
import { joined } from "./text.js";

/**
 * @typedef {object} Reader
 * @property {string[]} target what the model may write, by its number
 * @property {(count: number) => number} longest how much may be written for a source of so much
 * @property {(sentence: string[]) => {ids: number[], names: string[], count: number, odd: string[]}} read
 * @property {(ids: number[]) => string} text
 * @property {(names: string[], place: number) => boolean} inside whether it goes on with a word
 */

/** How a text is cut into pieces, as Python has it; null where the model has words. @type {(store: any) => any} */
export const cutting = (store) => (store.get("pieces")?.count ? store.get("pieces") : null);

/** @type {(store: any) => Reader} */
export function words(store) {
  const [source, target] = [store.get("source_words"), store.get("target_words")];
  return {
    target,
    longest: (count) => count + 10, // as Python has it
    read: (sentence) => ({
      ids: sentence.map((word) => source.indexOf(word)),
      names: sentence,
      count: sentence.length,
      odd: [],
    }),
    text: (ids) => joined(ids.map((id) => target[id])),
    inside: () => false,
  };
}

const SPACE = "▁";

/** @type {(bytes: Uint8Array, page: any) => Reader} */
export function pieces(bytes, page) {
  const table = tableOf(bytes, page);
  const { texts } = table;
  const marked = texts.some((text) => text.startsWith(SPACE));
  const special = new Set(page.special.map((id) => texts[id]));
  return {
    target: texts,
    longest: (count) => page.longest[0] * count + page.longest[1],
    read([text]) {
      const found = cut(text, table, page);
      return { ...found, names: found.ids.map((id) => texts[id]) };
    },
    text: (ids) => joinedPieces(ids, table, page),
    inside(names, place) {
      if (!place || special.has(names[place]) || special.has(names[place - 1])) return false;
      if (page.inside) return names[place].startsWith(page.inside);
      return page.end ? !names[place - 1].endsWith(page.end) : marked && !names[place].startsWith(SPACE);
    },
  };
}
