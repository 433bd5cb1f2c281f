// A multiple-choice question that answers every choice with its reason.

import { button, el, inline, mark, nodes, note, setText } from "../core/view/dom.js";
import { cited, done, spoken, unseen } from "../core/view/questions.js";

const data = ["question", "options", "multiple"];
const state = ["chosen", "checked"];

function build(store) {
  const many = store.get("multiple");
  const hand = { walks: false }; // an arrow key is down: it moves the choice, and judges nothing
  const judged = () => store.set({ checked: true });
  const options = store.get("options").map((option, place) => line(store, option, place, many, hand));
  const [verdict, why] = [el("span"), unseen()];
  const status = el("p", { class: "status", role: "status" }, verdict, why);
  const check = button("check", () => {
    judged();
    again.focus(); // the button that had the focus is gone
  });
  const again = button("try again", () => {
    store.set({ chosen: [], checked: false });
    options[0].box.focus();
  });
  // a form keeps the radio buttons of one question apart from those of the next
  const node = el(
    "form",
    {
      onsubmit: (event) => event.preventDefault(),
      onkeydown({ key }) {
        hand.walks = key.startsWith("Arrow");
      },
      onkeyup() {
        hand.walks = false;
      },
    },
    el(
      "fieldset",
      {},
      el("legend", {}, inline(store.get("question"))),
      many ? note("More than one may be right.") : null,
      nodes(options),
    ),
    el("div", "verdict", check, status, again),
  );
  const draw = () => {
    const [chosen, checked] = [store.get("chosen"), store.get("checked")];
    options.forEach((option, place) => option.show(chosen.includes(place), checked));
    check.hidden = checked || (!many && !chosen.length);
    again.hidden = !checked;
    setText(verdict, checked ? judge(store.get("options"), chosen) : "");
    setText(why, checked ? reasons(store.get("options"), chosen) : "");
    if (verdict.textContent === "Right.") done(node);
  };
  return { node, draw };
}

function line(store, [text, correct, reason], place, many, hand) {
  const judge = () => store.set({ chosen: [place], checked: true });
  const box = el("input", {
    type: many ? "checkbox" : "radio",
    name: "choice",
    onchange() {
      if (!many) return hand.walks ? store.set({ chosen: [place], checked: false }) : judge();
      const others = store.get("chosen").filter((other) => other !== place);
      const chosen = box.checked ? [...others, place].sort((a, b) => a - b) : others;
      return store.set({ chosen, checked: false });
    },
    onkeydown(event) {
      if (many || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault(); // the browser does nothing where the choice is already made
      judge();
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
    why.replaceChildren(...(told ? [el("b", {}, correct ? "Right. " : "Not right. "), ...cited(reason)] : []));
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

/** The reasons of what was chosen, each after its answer where they are several. */
function reasons(options, chosen) {
  if (chosen.length === 1) return ` ${spoken(options[chosen[0]][2])}`;
  const one = ([text, correct, reason]) => ` ${spoken(text)}: ${correct ? "right" : "not right"}. ${spoken(reason)}`;
  return chosen.map((place) => one(options[place])).join("");
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { build, data, state, asks: true };
