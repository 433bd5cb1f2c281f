// Byte-pair encoding as Python's tokenizers does it: a text into pieces, and pieces into a text.
// Pure functions; what is done before and after are steps that Python's pieces.py wrote.

/** @typedef {[string, ...any[]]} Step */

// what Python's split() takes for spaces: those of Unicode, and the four separators of ASCII
const SPACES = new RegExp(`[\\p{White_Space}${String.fromCharCode(28)}-${String.fromCharCode(31)}]+`, "gu");
const OUTER = /^\p{White_Space}+|\p{White_Space}+$/gu;

/**
 * The table of pieces and merges out of an asset's bytes: pairs of numbers in their order, then
 * JSON with those pieces that no merge makes, then eight bytes that only Python reads. What a merge
 * makes gets the lowest number that is free.
 * @type {(bytes: Uint8Array, page: any) => {texts: string[], ids: Map<string, number>, ranks: Map<number, {rank: number, made: number}>}}
 */
export function tableOf(bytes, { count, merges, inside }) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const texts = Array(count);
  const [ids, ranks] = [new Map(), new Map()];
  const put = (id, text) => {
    texts[id] = text;
    ids.set(text, id);
  };
  const { told } = JSON.parse(new TextDecoder().decode(bytes.subarray(4 * merges, -8)));
  for (const [id, text] of told) put(id, text);
  let free = 0;
  for (let rank = 0; rank < merges; rank++) {
    const [a, b] = [view.getUint16(4 * rank, true), view.getUint16(4 * rank + 2, true)];
    const text = texts[a] + texts[b].slice(inside.length);
    while (texts[free] !== undefined) free++;
    if (!ids.has(text)) put(free, text);
    ranks.set(a * count + b, { rank, made: ids.get(text) });
  }
  return { texts, ids, ranks };
}

/** The parts of a text that match, those between, or both. @type {(text: string, pattern: RegExp, matches: boolean, gaps: boolean) => string[]} */
function split(text, pattern, matches, gaps) {
  const found = [];
  let from = 0;
  for (const { 0: match, index } of text.matchAll(pattern)) {
    found.push(gaps && text.slice(from, index), matches && match);
    from = index + match.length;
  }
  found.push(gaps && text.slice(from));
  return found.filter(Boolean);
}

const trimmed = (text) => text.replace(OUTER, "");

const NORMALISE = {
  nfc: (text) => text.normalize("NFC"),
  // letter by letter: no ς at the end of a word
  lower: (text) => Array.from(text, (letter) => letter.toLowerCase()).join(""),
  strip: (text, left, right) => {
    const bare = trimmed(text);
    const at = text.indexOf(bare);
    return text.slice(left ? at : 0, right ? at + bare.length : undefined);
  },
  prepend: (text, start) => (text ? start + text : text),
  replace: (text, from, to) => text.replaceAll(from, () => to),
};

const SPLIT = {
  split: (parts, pattern, matches, gaps) => {
    const found = new RegExp(pattern, "gu");
    return parts.flatMap((part) => split(part, found, matches, gaps));
  },
  metaspace: (parts, mark, always) =>
    parts.map((part) => {
      const text = part.replaceAll(" ", mark);
      return always && !text.startsWith(mark) ? mark + text : text;
    }),
};

/** Merge neighbours, those first that were joined first in training. @type {(parts: number[], ranks: any, count: number) => number[]} */
function merged(parts, ranks, count) {
  for (;;) {
    let best = null;
    let place = 0;
    for (let at = 0; at + 1 < parts.length; at++) {
      const one = ranks.get(parts[at] * count + parts[at + 1]);
      if (one && (!best || one.rank < best.rank)) [best, place] = [one, at];
    }
    if (!best) return parts;
    parts.splice(place, 2, best.made);
  }
}

/**
 * A word's pieces; letters that no piece has become the unknown one, or nothing, and go to `odd`.
 * @type {(word: string, table: any, page: any, odd: Set<string>) => number[]}
 */
function piecesOf(word, { ids, ranks }, { count, unknown, fuse, inside, end }, odd) {
  const letters = Array.from(word);
  const found = [];
  let before = false; // whether the letter before was unknown
  letters.forEach((letter, at) => {
    const id = ids.get((at ? inside : "") + letter + (at === letters.length - 1 ? end : ""));
    if (id === undefined) odd.add(letter);
    if (id !== undefined) found.push(id);
    else if (unknown !== null && !(fuse && before)) found.push(unknown);
    before = id === undefined && (before || unknown !== null);
  });
  return merged(found, ranks, count);
}

/** What is typed, its spaces made one and its letters one code each. @type {(text: string) => string} */
export const tidied = (text) => text.replace(SPACES, " ").replace(/^ | $/g, "").normalize("NFC");

/**
 * A tidied text as numbers, with what stands before and after every text, and the letters in no piece.
 * @type {(text: string, table: any, page: any) => {ids: number[], count: number, odd: string[]}}
 */
export function cut(text, table, page) {
  const start = page.lower ? text.toLowerCase() : text;
  const plain = page.normaliser.reduce((now, [name, ...how]) => NORMALISE[name](now, ...how), start);
  const words = page.splitter.reduce((now, [name, ...how]) => SPLIT[name](now, ...how), plain ? [plain] : []);
  const odd = new Set();
  const found = words.flatMap((word) => piecesOf(word, table, page, odd));
  return { ids: [...page.before, ...found, ...page.after], count: found.length, odd: [...odd] };
}

/** A token without up to so many of a letter at its ends. @type {(text: string, letter: string, start: number, stop: number) => string} */
function stripped(text, letter, start, stop) {
  let [from, to] = [0, text.length];
  while (from < Math.min(start, text.length) && text[from] === letter) from++;
  while (to > Math.max(text.length - stop, from) && text[to - 1] === letter) to--;
  return text.slice(from, to);
}

const DECODE = {
  fuse: (tokens) => [tokens.join("")],
  replace: (tokens, from, to) => tokens.map((token) => token.replaceAll(from, () => to)),
  strip: (tokens, letter, start, stop) => tokens.map((token) => stripped(token, letter, start, stop)),
  metaspace: (tokens, mark, first) =>
    tokens.map((token, at) => token.replaceAll(mark, () => (first && at === 0 ? "" : " "))),
  suffix: (tokens, end) =>
    tokens.map((token, at) => token.replaceAll(end, () => (at === tokens.length - 1 ? "" : " "))),
  prefix: (tokens, start) =>
    tokens.map((token, at) => {
      if (!at) return token;
      return token.startsWith(start) ? token.slice(start.length) : ` ${token}`;
    }),
};

/** Numbers as a text, without the special ones. @type {(ids: number[], table: any, page: any) => string} */
export function joinedPieces(ids, { texts }, { decoder, special }) {
  const tokens = ids.filter((id) => !special.includes(id)).map((id) => texts[id]);
  if (!decoder) return trimmed(tokens.join(" "));
  return trimmed(decoder.reduce((now, [name, ...how]) => DECODE[name](now, ...how), tokens).join(""));
}
