// WordPiece as BERT's tokenizer does it: a text into the pieces that the model knows.

const GONE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffd]/gu; // controls, formats, private ones
const HAN =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;
const WORD = /[\p{P}$+<=>^`|~]|[^\s\p{P}$+<=>^`|~]+/gu;
const LINES = /[\t\n\r]/g; // controls that are spaces
const LONGEST = 100; // letters of a word that is cut at all
const UNKNOWN = "[UNK]";

const SPACE = /\p{White_Space}/gu;

/** Letter by letter: no ς at the end of a word. @type {(text: string) => string} */
const lower = (text) => Array.from(text, (letter) => letter.toLowerCase()).join("");

/** The words of a text: lower case, no accents; a sign of punctuation and a Han letter is a word. @type {(text: string) => string[]} */
export function wordsOf(text) {
  const clean = text.replace(LINES, " ").replace(GONE, "").replace(SPACE, " ").replace(HAN, " $& ");
  return lower(clean.normalize("NFD").replace(/\p{Mn}/gu, "")).match(WORD) ?? [];
}

/**
 * A word's pieces, each the longest that is known; [UNK] where one is not, for the whole word.
 * @type {(word: string, ids: Map<string, number>) => string[]}
 */
export function piecesOf(word, ids) {
  const letters = Array.from(word);
  if (letters.length > LONGEST) return [UNKNOWN];
  const found = [];
  for (let from = 0; from < letters.length; ) {
    let to = letters.length;
    const name = () => (from ? "##" : "") + letters.slice(from, to).join("");
    while (to > from && !ids.has(name())) to--;
    if (to === from) return [UNKNOWN];
    found.push(name());
    from = to;
  }
  return found;
}

/** A text at the names of special tokens, which are these themselves: every other part is one. */
function parted(text, special) {
  if (!special.length) return [text];
  const names = special.map((name) => name.replace(/[^\p{L}\p{N}]/gu, "\\$&"));
  return text.split(new RegExp(`(${names.join("|")})`, "u"));
}

/**
 * A text's pieces, [CLS] and [SEP] around them, and the words that none could be made of.
 * @type {(text: string, ids: Map<string, number>, special: string[]) => {pieces: string[], ids: number[], odd: string[]}}
 */
export function cut(text, ids, special) {
  const odd = [];
  const inner = parted(text, special).flatMap((part, at) => {
    if (at % 2) return [part];
    return wordsOf(part).flatMap((word) => {
      const found = piecesOf(word, ids);
      if (found[0] === UNKNOWN) odd.push(word);
      return found;
    });
  });
  const pieces = ["[CLS]", ...inner, "[SEP]"];
  return { pieces, ids: pieces.map((piece) => ids.get(piece)), odd: [...new Set(odd)] };
}

/** The number of each piece, from lines in their order. @type {(lines: string) => Map<string, number>} */
export const numbered = (lines) => new Map(lines.split("\n").map((piece, id) => [piece, id]));
