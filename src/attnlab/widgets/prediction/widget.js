// Predict, then reveal: the reader's numbers beside the computed ones.

import { alertLine, button, decimal, el, inline, nodes, scroller, table } from "../core/view/dom.js";
import { done } from "../core/view/questions.js";
import { fixed, typed } from "../core/view/text.js";

const data = ["question", "labels", "answers", "decimals", "tolerance", "reason"];
const state = ["guesses", "revealed"];

function build(store) {
  const labels = store.get("labels");
  const alert = alertLine();
  const answer = el("div", { role: "status" });
  const inputs = labels.map((label, place) => guess(store, label, place, alert));
  const reveal = el("button", { type: "submit" }, "reveal");
  const reset = button("start again", () => startAgain(store, inputs));
  const submit = (event) => {
    event.preventDefault();
    alert.tell(complaint(inputs, store.get("guesses")));
    if (alert.node.textContent) return;
    store.set({ revealed: true });
    reset.focus(); // the button that had the focus is gone
  };
  const node = el(
    "form",
    { novalidate: true, onsubmit: submit },
    el("fieldset", {}, el("legend", {}, inline(store.get("question"))), el("div", "guesses", nodes(inputs))),
    alert.node,
    el("div", "verdict", reveal, reset),
    answer,
  );
  const draw = () => {
    const revealed = store.get("revealed");
    inputs.forEach((input) => input.show(store.get("guesses"), revealed));
    reveal.hidden = revealed;
    reset.hidden = !revealed;
    answer.replaceChildren(...(revealed ? result(store) : []));
    if (revealed) done(node);
  };
  return { node, draw };
}

function startAgain(store, inputs) {
  store.set({ guesses: inputs.map(() => null), revealed: false });
  inputs.forEach(({ box }) => {
    box.value = "";
  });
  inputs[0].box.focus();
}

function guess(store, label, place, alert) {
  const box = decimal({
    "aria-label": `your prediction for ${label}`,
    onkeydown(event) {
      if (event.key !== "Enter") return;
      event.preventDefault(); // JupyterLab swallows the browser's own way to submit
      if (!box.readOnly) box.form.requestSubmit();
    },
    oninput() {
      const value = Number.isFinite(typed(box.value)) ? typed(box.value) : null;
      box.removeAttribute("aria-invalid");
      alert.tell("");
      store.set({ guesses: store.get("guesses").map((old, at) => (at === place ? value : old)) });
    },
  });
  const show = (guesses, revealed) => {
    box.readOnly = revealed;
    const now = guesses[place];
    if (now !== null && typed(box.value) !== now) box.value = now;
    // what is no number (yet) is left to its reader
    if (now === null && Number.isFinite(typed(box.value))) box.value = "";
  };
  return { node: el("label", {}, el("span", {}, inline(label)), box), box, show };
}

/** What stands in the way of revealing, in words, or an empty string. */
function complaint(inputs, guesses) {
  const bad = inputs.filter(({ box }) => box.value.trim() && !Number.isFinite(typed(box.value)));
  bad.forEach(({ box }) => box.setAttribute("aria-invalid", "true"));
  if (bad.some(({ box }) => !Number.isNaN(typed(box.value))))
    return "One of your predictions is too large to compare: write fewer digits.";
  if (bad.length) return "One of your predictions is not a number.";
  if (guesses.some((value) => value !== null)) return "";
  inputs[0].box.setAttribute("aria-invalid", "true");
  return "Write down at least one prediction first; a guess will do.";
}

function result(store) {
  const [decimals, tolerance] = [store.get("decimals"), store.get("tolerance")];
  const answers = store.get("answers");
  const rows = store.get("labels").map((label, place) => {
    const mine = store.get("guesses")[place];
    const said = mine === null ? "none" : fixed(mine, decimals);
    return [inline(label), said, fixed(answers[place], decimals), inWords(mine, answers[place], decimals, tolerance)];
  });
  const parts = [
    scroller(
      "Your predictions and the computed numbers",
      table(["asked", "predicted", "computed", "difference"], rows),
    ),
  ];
  if (store.get("reason")) parts.push(el("p", {}, inline(store.get("reason"))));
  return parts;
}

function inWords(mine, truth, decimals, tolerance) {
  if (mine === null) return "–";
  const apart = Math.abs(mine - truth);
  const size = fixed(apart, decimals);
  if (fixed(mine, decimals) === fixed(truth, decimals)) return "exactly right";
  const side = `${size} too ${mine > truth ? "high" : "low"}`;
  return apart <= tolerance ? `close: ${side}` : side;
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { build, data, state };
