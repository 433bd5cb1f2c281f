// The reader's sentence: cut into the words that a model may know, and the words near to one that
// it does not know. Pure functions; Python cuts the same way.

const TOKEN =
  /can(?=not(?![\p{L}\d_]))|\p{L}+?(?=n't(?![\p{L}\d_]))|n't(?![\p{L}\d_])|'[\p{L}\d_]+|\d+(?:[.,:]\d+)*|\p{L}+(?:-\p{L}+)*|\S/gu;
const WHOLE = new Map(Object.entries({ ca: "can", "n't": "not" }));

/** A text as tokens: in lower case, without punctuation, n't as not. @type {(text: string) => string[]} */
export function tokensOf(text) {
  const plain = text
    .toLowerCase()
    .replace(/’/g, "'")
    .replace(/[.,;:!?…]/g, " ");
  return (plain.match(TOKEN) ?? []).map((token) => WHOLE.get(token) ?? token);
}

/** The fewest letters to put in, take out or replace that make b of a. @type {(a: string, b: string) => number} */
export function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  Array.from(a).forEach((letter, i) => {
    const above = row;
    row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      row.push(Math.min(above[j + 1] + 1, row[j] + 1, above[j] + Number(letter !== b[j])));
    }
  });
  return row[b.length];
}

/**
 * Up to `most` known words that are nearest to one, none that shares too little with it.
 * @type {(word: string, known: string[], most?: number) => string[]}
 */
export const nearest = (word, known, most = 3) =>
  known
    .map((one) => ({ one, far: distance(word, one) }))
    .filter(({ far }) => far <= Math.max(2, word.length / 2))
    .sort((a, b) => a.far - b.far)
    .slice(0, most)
    .map(({ one }) => one);

/** Tokens as a text: no space after l' or before 's and -il. @type {(tokens: string[]) => string} */
export const joined = (tokens) =>
  tokens
    .join(" ")
    .replace(/' /g, "'")
    .replace(/ (['-]\p{L})/gu, "$1");
