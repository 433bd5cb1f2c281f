// Where the reader types a sentence: examples, words that the model does not know and those near
// to them, and the button that has it translated.

import { sizeText } from "../../core/view/assets.js";
import { button, el, note, setText } from "../../core/view/dom.js";
import { listed, quoted } from "../../core/view/text.js";
import { tidied } from "./pieces.js";
import { cutting } from "./reading.js";
import { cutText } from "./run.js";
import { joined, nearest, tokensOf } from "./text.js";

const MOST = 16; // words, as Python has it
const NAMED = 6; // letters that no piece has
const SPECIAL = 3; // <pad>, <bos> and <eos> come first, as in every vocabulary of the book

export function typing(view, start) {
  const { store, alert } = view;
  const page = cutting(store);
  const known = store.get("source_words").slice(SPECIAL);
  const hints = el("div", "hints");
  const say = (text, ...more) => {
    alert.tell(text);
    hints.replaceChildren(...more);
    box.toggleAttribute("aria-invalid", false);
    if (text) box.setAttribute("aria-invalid", "true");
    if (view.found) view.found.hidden = Boolean(text); // an answer to another sentence
  };
  /** The tokens in the box, or null where they cannot be used, which is said. */
  const read = () => {
    const tokens = tokensOf(box.value);
    const odd = [...new Set(tokens.filter((token) => !known.includes(token)))];
    if (odd.length) {
      say(
        `The model does not know ${odd.map((word) => `“${word}”`).join(", ")}.`,
        ...odd.slice(0, 3).map((word) => instead(word, tokens)),
      );
    } else if (!tokens.length || tokens.length > MOST) {
      say(`1 to ${MOST} words are wanted, not ${tokens.length}.`);
    } else {
      say("");
      return tokens;
    }
    return null;
  };
  const instead = (word, tokens) => {
    const near = nearest(word, known);
    return el(
      "p",
      {},
      near.length ? `Instead of “${word}”: ` : `No known word is near “${word}”.`,
      near.map((one) =>
        button(one, () => {
          box.value = joined(tokens.map((token) => (token === word ? one : token)));
          (read() ? go : box).focus();
        }),
      ),
    );
  };
  const begin = (sentence) => {
    const same = sentence.join(" ") === store.get("sentence").join(" ");
    if (!same) store.set({ sentence, row: null });
    start();
  };
  /** The text in the box; any text can be read but an empty or an endless one. */
  const readText = () => {
    const text = tidied(box.value);
    const [, most] = page.most;
    const count = Array.from(text).length;
    if (count && count <= most) return text;
    say(count ? `At most ${most} letters are wanted, not ${count}: shorten the text.` : "Type a sentence first.");
    return null;
  };
  const translateText = () => {
    const text = readText();
    if (text === null) return;
    const [most] = page.most;
    cutText(view, text, ({ count, odd }) => {
      if (count > most) say(`This text makes ${count} pieces, and at most ${most} are read: shorten it.`);
      else if (!count) say("The model knows no letter of this text.");
      else {
        say("", ...unread(odd));
        begin([text]);
      }
    });
  };
  const unread = (odd) => {
    if (!odd.length) return [];
    const names = odd.slice(0, NAMED).map(quoted);
    const rest = odd.length > NAMED ? [`${odd.length - NAMED} more`] : [];
    const instead = page.unknown === null ? "leaves it out" : `reads ${view.reader.target[page.unknown]} in its place`;
    return [note(`The model has no piece for ${listed([...names, ...rest])}, and ${instead}.`)];
  };
  const translate = () => {
    if (page) return translateText();
    const tokens = read();
    if (tokens) begin(tokens);
  };
  const box = el("input", {
    type: "text",
    inputmode: "text",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-label": "English sentence",
    onkeydown: (event) => event.key === "Enter" && translate(),
  });
  const go = view.simple ? button("Translate", translate, { class: "go" }) : button("translate", translate);
  const cost = el("span", { class: "note", role: "status" });
  const price = (text = `loads the weights, ${sizeText(store.get("size"))}, once`) =>
    setText(cost, view.there ? "" : text);
  const examples = store.get("examples").map((text) =>
    button(text, () => {
      box.value = text;
      translate();
    }),
  );
  const words = page
    ? null
    : el(
        "details",
        "known",
        el("summary", {}, `The ${known.length} words that it knows`),
        el("p", {}, [...known].sort().join(" ")),
      );
  const folded = !view.simple && !page; // of pieces, an example shows what one would not think of
  const more = [
    examples.length
      ? el("div", { class: "examples", role: "group", "aria-label": "examples" }, el("span", {}, "or"), examples)
      : null,
    words,
  ];
  const node = el("div", {}, el("div", "ask", box, go, cost), folded ? null : more);
  let put = null;
  const fill = () => {
    const now = page ? store.get("sentence")[0] : joined(store.get("sentence"));
    if (put !== now) box.value = now;
    put = now;
  };
  const show = () => {
    fill();
    if (!view.busy) price();
  };
  fill(); // now: what a quick hand types before the first drawing stays
  return {
    node,
    more: folded ? more : [],
    hints,
    show,
    price,
    forget: () => {
      put = null;
      say("");
    },
  };
}
