// Numbers worked out on paper: entered, judged one by one, tried again.

import { alertLine, button, decimal, el, inline, mark, nodes, note, setText } from "../core/view/dom.js";
import { cited, done } from "../core/view/questions.js";
import { fixed } from "../core/view/text.js";
import { bounds, entered, judge, mistaken } from "./judge.js";

const data = ["question", "labels", "answers", "mistakes", "decimals", "tolerance", "reason"];
const LONGEST = "1000"; // letters of an entry: what is no number is said to be none, and kept
const state = ["entries", "checked", "tries", "given"];

function build(store) {
  const alert = alertLine();
  const told = el("div", { role: "status" });
  const boxes = store.get("labels").map((label, place) => entry(store, label, place, alert));
  const check = el("button", { type: "submit" }, "check");
  const give = button("show the answer", () => {
    store.set({ given: true });
    again.focus(); // the button that had the focus is gone
  });
  const again = button("start again", () => {
    store.set({ entries: boxes.map(() => ""), checked: false, tries: 0, given: false });
    boxes[0].box.focus();
  });
  const submit = (event) => {
    event.preventDefault();
    if (!store.get("entries").some((text) => text.trim())) return alert.tell("Write a number first.");
    store.set({ checked: true, tries: store.get("tries") + 1 });
    if (check.hidden) again.focus();
  };
  const [tolerance, decimals] = [store.get("tolerance"), store.get("decimals")];
  const node = el(
    "form",
    { novalidate: true, onsubmit: submit },
    el("fieldset", {}, el("legend", {}, inline(store.get("question"))), el("div", "entries", nodes(boxes))),
    note(bounds(tolerance, decimals)),
    alert.node,
    el("div", "verdict", check, give, again),
    told,
  );
  const draw = () => {
    const [checked, given] = [store.get("checked"), store.get("given")];
    const verdicts = store
      .get("entries")
      .map((text, place) => judge(text, store.get("answers")[place], tolerance, decimals));
    const named = mistaken(store.get("mistakes"), store.get("entries"), tolerance, decimals);
    named?.[0].forEach((number, place) => {
      // what has a name is not called close
      if (number !== null && verdicts[place].is === "close") verdicts[place] = { is: "wrong", said: "not right" };
    });
    const right = checked && verdicts.every(({ is }) => is === "right");
    boxes.forEach((one, place) => one.show(verdicts[place], checked, right || given, given));
    check.hidden = right || given;
    give.hidden = right || given || !store.get("tries");
    again.hidden = !right && !given;
    tell(told, result(store, verdicts, right, named));
    if (right || given) done(node);
  };
  return { node, draw };
}

function entry(store, label, place, alert) {
  const box = decimal({
    "aria-label": `your number for ${label}`,
    maxlength: LONGEST,
    onkeydown(event) {
      if (event.key !== "Enter") return;
      event.preventDefault(); // JupyterLab swallows the browser's own way to submit
      if (!box.readOnly) box.form.requestSubmit();
    },
    oninput() {
      alert.tell("");
      const entries = store.get("entries").map((old, at) => (at === place ? box.value : old));
      store.set({ entries, checked: false });
    },
  });
  const [read, said] = [el("span", "read"), el("span", "said")];
  const show = ({ is, said: words, read: mine }, checked, over, given) => {
    const text = store.get("entries")[place];
    if (box.value !== text) box.value = text;
    box.readOnly = over;
    const judged = checked && (is !== "empty" || store.get("tries"));
    if (checked && is === "unread") box.setAttribute("aria-invalid", "true");
    else box.removeAttribute("aria-invalid");
    mark(said, "right", judged && is === "right");
    mark(said, "wrong", judged && is !== "right" && is !== "empty");
    setText(read, mine ?? "");
    const truth = given ? `the answer: ${fixed(store.get("answers")[place], store.get("decimals"))}` : "";
    setText(said, [judged ? words : "", truth].filter(Boolean).join("; "));
  };
  return { node: el("div", "entry", el("label", {}, el("span", {}, inline(label)), box), read, said), box, show };
}

/** The verdict in words, the mistake that was made, and the reason once the question is over. */
function result(store, verdicts, right, named) {
  const [labels, given] = [store.get("labels"), store.get("given")];
  const parts = [];
  if (right) parts.push("Right. ");
  else if (store.get("checked")) {
    const good = verdicts.filter(({ is }) => is === "right").length;
    parts.push(labels.length > 1 ? `${good} of ${labels.length} right. ` : "Not there yet. ");
    // one by one they stand beside their boxes; here they are told to a screen reader
    const each = verdicts
      .map(({ said, read }, place) => `${labels[place]}: ${read ? `${read} ` : ""}${said}.`)
      .join(" ");
    parts.push(el("span", "unseen", `${each} `), ...cited(named?.[1] ?? ""));
  }
  if (given && !right) {
    const numbers = store
      .get("answers")
      .map((number, place) => `${labels[place]}: ${fixed(number, store.get("decimals"))}`);
    parts.push(el("span", "unseen", ` The answer: ${numbers.join(", ")}. `));
  }
  const reason = (right || given) && store.get("reason");
  return [parts, reason ? cited(reason) : []].filter((one) => one.length);
}

/** Put paragraphs there only where they changed, so that a screen reader is not told them twice. */
function tell(place, parts) {
  const next = parts.map((one) => el("p", {}, one));
  const said = next.map((one) => one.textContent).join("");
  if (place.textContent !== said) place.replaceChildren(...next);
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { build, data, state, asks: true };

export const maths = { entered, judge, mistaken };
