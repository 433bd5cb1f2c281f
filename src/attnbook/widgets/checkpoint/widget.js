// A multiple-choice question that answers every choice with its reason.

import { button, el, inline, mark, nodes, note, setText, statusLine } from "../core/view/dom.js";

const data = ["question", "options", "multiple"];
const state = ["chosen", "checked"];

function build(store) {
  const many = store.get("multiple");
  const options = store.get("options").map((option, place) => line(store, option, place, many));
  const verdict = statusLine();
  const check = many
    ? button("check", () => {
        store.set({ checked: true });
        again.focus(); // the button that had the focus is gone
      })
    : null;
  const again = button("try again", () => {
    store.set({ chosen: [], checked: false });
    options[0].box.focus();
  });
  // a form keeps the radio buttons of one question apart from those of the next
  const node = el(
    "form",
    { onsubmit: (event) => event.preventDefault() },
    el(
      "fieldset",
      {},
      el("legend", {}, inline(store.get("question"))),
      many ? note("More than one may be right.") : null,
      nodes(options),
    ),
    el("div", "verdict", check, verdict, again),
  );
  const draw = () => {
    const [chosen, checked] = [store.get("chosen"), store.get("checked")];
    options.forEach((option, place) => option.show(chosen.includes(place), checked));
    if (check) check.hidden = checked;
    again.hidden = !checked;
    setText(verdict, checked ? judge(store.get("options"), chosen) : "");
  };
  return { node, draw };
}

function line(store, [text, correct, reason], place, many) {
  const box = el("input", {
    type: many ? "checkbox" : "radio",
    name: "choice",
    onchange() {
      if (!many) return store.set({ chosen: [place], checked: true });
      const others = store.get("chosen").filter((other) => other !== place);
      const chosen = box.checked ? [...others, place].sort((a, b) => a - b) : others;
      return store.set({ chosen, checked: false });
    },
  });
  const why = el("div", "reason");
  const node = el("div", "option", el("label", {}, box, el("span", {}, inline(text))), why);
  const show = (on, checked) => {
    box.checked = on;
    const told = on && checked;
    mark(node, "right", told && correct);
    mark(node, "wrong", told && !correct);
    // a reason is put into the page only once it is asked for
    why.replaceChildren(...(told ? [el("b", {}, correct ? "Right. " : "Not right. "), ...inline(reason)] : []));
  };
  return { node, box, show };
}

function judge(options, chosen) {
  if (!chosen.length) return "Choose at least one answer.";
  const right = options.flatMap(([, correct], place) => (correct ? [place] : []));
  const wrong = chosen.filter((place) => !right.includes(place)).length;
  if (wrong) return chosen.length === 1 ? "Not right." : `Not right: ${wrong} of your choices.`;
  const missing = right.length - chosen.length;
  if (!missing) return "Right.";
  return `Right so far, but ${missing === 1 ? "one answer is" : `${missing} answers are`} missing.`;
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { build, data, state };
