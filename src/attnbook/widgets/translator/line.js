// Where the reader types a sentence: examples, words that the model does not know and those near
// to them, and the button that has it translated.

import { sizeText } from "../core/view/assets.js";
import { button, el, setText } from "../core/view/dom.js";
import { joined, nearest, tokensOf } from "./text.js";

const MOST = 16; // words, as Python has it
const SPECIAL = 3; // <pad>, <bos> and <eos> come first, as in every vocabulary of the book

export function typing(view, start) {
  const { store, source, alert } = view;
  const known = source.slice(SPECIAL);
  const hints = el("div", "hints");
  const say = (text, ...more) => {
    alert.tell(text);
    hints.replaceChildren(...more);
    box.toggleAttribute("aria-invalid", false);
    if (text) box.setAttribute("aria-invalid", "true");
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
  const translate = () => {
    const tokens = read();
    if (!tokens) return;
    const same = tokens.join(" ") === store.get("sentence").join(" ");
    if (!same) store.set({ sentence: tokens, row: null });
    start();
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
  const go = button("translate", translate);
  const cost = el("span", { class: "note", role: "status" });
  const price = (text = `loads the weights, ${sizeText(store.get("size"))}, once`) =>
    setText(cost, view.there ? "" : text);
  const examples = store.get("examples").map((text) =>
    button(text, () => {
      box.value = text;
      translate();
    }),
  );
  const words = el(
    "details",
    "known",
    el("summary", {}, `The ${known.length} words that it knows`),
    el("p", {}, [...known].sort().join(" ")),
  );
  const node = el(
    "div",
    {},
    el("div", "ask", box, go, cost),
    examples.length
      ? el("div", { class: "examples", role: "group", "aria-label": "examples" }, el("span", {}, "or"), examples)
      : null,
    words,
  );
  let put = null;
  const show = () => {
    const now = joined(store.get("sentence"));
    if (put !== now) box.value = now;
    put = now;
    if (!view.busy) price();
  };
  return {
    node,
    hints,
    show,
    price,
    forget: () => {
      put = null;
      say("");
    },
  };
}
