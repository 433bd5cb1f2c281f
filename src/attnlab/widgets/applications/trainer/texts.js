// The text that the reader types: words, or else letters, are its symbols.

export const LONGEST = 20; // symbols that the model reads
export const KINDS = 12; // different ones

/** The symbols of a text, in their order: its words where it has blanks, else its letters. */
export function symbolsOf(text) {
  const words = text.trim().split(/\s+/);
  return words.length > 1 ? words : Array.from(words[0]);
}

/**
 * A text's symbols by name and by number: each new one has the next number. `why` says what cannot
 * be read.
 * @type {(text: string) => {names: string[], ids: number[], kinds: number, why: string}}
 */
export function understood(text) {
  const names = symbolsOf(text);
  const all = [...new Set(names)];
  const n = names.length;
  let why = "";
  if (n < 2) why = `a text of at least 2 symbols is wanted, and this has ${n}`;
  else if (n > LONGEST) why = `at most ${LONGEST} symbols are read, and this has ${n}`;
  else if (all.length > KINDS) why = `at most ${KINDS} different symbols are known, and this has ${all.length}`;
  return { names, ids: names.map((name) => all.indexOf(name)), kinds: all.length, why };
}
