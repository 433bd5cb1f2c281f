// Predict, then reveal: the reader's numbers beside the computed ones.

import { asked, retold, understood, written } from "../core/maths/number.js";
import { alertLine, button, decimal, el, inline, nearly, nodes, scroller, table } from "../core/view/dom.js";
import { done } from "../core/view/questions.js";
import { fixed } from "../core/view/text.js";

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
    if (alert.told()) return;
    store.set({ revealed: true });
    reset.focus(); // the button that had the focus is gone
  };
  const node = el(
    "form",
    { novalidate: true, onsubmit: submit },
    el("fieldset", {}, el("legend", {}, inline(store.get("question"))), el("div", "guesses", nodes(inputs))),
    el("div", "verdict", reveal, reset),
    alert.node, // below the button: it appears while that is pressed, and must not move it
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
  const takes = { thousands: store.get("decimals") === 0 };
  const read = () => understood(box.value, takes);
  const settle = () => {
    const { value } = read();
    if (value === undefined) return;
    const told = retold(box.value, value, takes);
    if (told) alert.tell(told, true);
    box.value = written(value, takes);
  };
  const box = decimal({
    "aria-label": `your prediction for ${label}`,
    onkeydown(event) {
      if (event.key !== "Enter") return;
      event.preventDefault(); // JupyterLab swallows the browser's own way to submit
      settle();
      if (!box.readOnly) box.form.requestSubmit();
    },
    onchange: settle,
    oninput() {
      const value = read().value ?? null;
      box.removeAttribute("aria-invalid");
      alert.tell("");
      store.set({ guesses: store.get("guesses").map((old, at) => (at === place ? value : old)) });
    },
  });
  const show = (guesses, revealed) => {
    box.readOnly = revealed;
    const now = guesses[place];
    const mine = read().value;
    if (now !== null && !nearly(mine ?? NaN, now)) box.value = written(now, takes);
    // what is no number (yet) is left to its reader
    if (now === null && mine !== undefined) box.value = "";
  };
  return { node: el("label", {}, el("span", {}, inline(label)), box), box, read, show };
}

/** What stands in the way of revealing, in words, or an empty string. */
function complaint(inputs, guesses) {
  const bad = inputs.filter(({ box, read }) => box.value.trim() && read().value === undefined);
  bad.forEach(({ box }) => box.setAttribute("aria-invalid", "true"));
  if (bad.length) {
    const [{ box, read }] = bad;
    const { why, ask } = read();
    return `One of your predictions cannot be compared: ${ask ? asked(box.value, ask) : why}.`;
  }
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
export const widget = { build, data, state, asks: true };
