// A sentence of the reader's own: typed here, read in Python. A static page has nobody to read it,
// and no field.

import { alertLine, button, el, setText } from "../../core/view/dom.js";

const LONGEST = 300; // characters, as Python has it

/** Stored sentences, and after them the reader's own. @type {(store: any) => any[]} */
export const listed = (store) => [...store.get("sentences"), ...(store.get("own") ?? [])];

/** @type {(store: any) => any} */
export function ownSentence(store) {
  if (!store.get("reads")) return { node: null, show() {}, forget() {} };
  const alert = alertLine();
  const told = el("span", { class: "note", role: "status" });
  let done = store.get("answer").turn; // an older answer is not told again
  const forget = () => {
    box.removeAttribute("aria-invalid");
    alert.tell("");
    setText(told, "");
  };
  const send = () => {
    const text = box.value.trim();
    if (text) store.set({ typed: { turn: store.get("typed").turn + 1, text } });
    box.focus();
  };
  const box = el("input", {
    type: "text",
    inputmode: "text",
    maxlength: LONGEST,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    oninput: forget,
    onkeydown: (event) => event.key === "Enter" && send(),
  });
  const show = () => {
    const [typed, answer] = [store.get("typed"), store.get("answer")];
    if (answer.turn !== typed.turn) return setText(told, "reading it …");
    if (answer.turn === done) return;
    done = answer.turn;
    forget();
    alert.tell(answer.said);
    if (answer.said) return box.setAttribute("aria-invalid", "true");
    setText(told, "It is the last in the list.");
    if (box.value.trim() === typed.text) box.value = "";
  };
  const node = el(
    "div",
    "controls yours",
    el("label", "choose", el("span", {}, "your own sentence"), box),
    button("show", send),
    told,
    alert.node,
  );
  return { node, show, forget };
}
