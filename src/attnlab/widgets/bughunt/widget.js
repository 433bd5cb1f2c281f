// A bug hunt: every line of the code is a button, and answers below itself.

import { button, el, inline, mark, nodes, note, scroller, setText } from "../core/view/dom.js";
import { cited, done, spoken, unseen } from "../core/view/questions.js";
import { oneStop } from "../core/view/stop.js";

const data = ["question", "evidence", "code", "answers", "bugs"];
const state = ["pressed"];

function build(store) {
  const bugs = store.get("bugs");
  const lines = store.get("code").map((text, place) => line(store, text, place + 1));
  const buttons = lines.flatMap((one) => one.press ?? []);
  const list = el("ol", "code", nodes(lines));
  const to = oneStop(list, buttons, true);
  const said = unseen();
  const status = el("div", { role: "status" }, said); // each answer is seen below its line
  const again = button("start again", () => {
    store.set({ pressed: [] });
    to(0);
  });
  const node = el(
    "fieldset",
    {},
    el("legend", {}, inline(store.get("question"))),
    store.get("evidence") ? scroller("what it gives", el("pre", "evidence", store.get("evidence"))) : null,
    note(`Press the ${bugs.length > 1 ? `${bugs.length} lines that are` : "line that is"} wrong; you may try again.`),
    list,
    status,
    el("div", "verdict", again),
  );
  const draw = () => {
    const pressed = store.get("pressed");
    lines.forEach((one, place) => one.show(pressed.includes(place + 1)));
    again.hidden = !pressed.length;
    setText(said, verdict(store));
    if (bugs.every((bug) => pressed.includes(bug))) done(node);
  };
  return { node, draw };
}

function line(store, text, number) {
  const answer = store.get("answers")[number - 1];
  const name = el("span", "number", String(number));
  if (!answer) return { node: el("li", {}, el("div", "blank", name)), show() {} };
  const found = store.get("bugs").includes(number);
  const press = el(
    "button",
    {
      type: "button",
      class: "line",
      // the line pressed last is the one that is spoken of; its answer stays
      onclick: () => store.set({ pressed: [...store.get("pressed").filter((other) => other !== number), number] }),
    },
    name,
    el("code", {}, text),
  );
  const why = el("div", "reason");
  const node = el("li", {}, press, why);
  const show = (on) => {
    mark(node, "right", on && found);
    mark(node, "wrong", on && !found);
    // an answer is put into the page only once it is asked for
    if (on !== Boolean(why.firstChild))
      why.replaceChildren(...(on ? [el("b", {}, found ? "Found. " : "Not this line. "), ...cited(answer)] : []));
  };
  return { node, press, show };
}

/** What a screen reader is told: the verdict of the line pressed last, its answer, what is left. */
function verdict(store) {
  const [bugs, pressed] = [store.get("bugs"), store.get("pressed")];
  const last = pressed[pressed.length - 1];
  if (!last) return "";
  const missing = bugs.filter((bug) => !pressed.includes(bug)).length;
  const left = bugs.includes(last) && missing ? ` ${missing} more to find.` : "";
  const said = bugs.includes(last) ? `Found, in line ${last}.` : `Not line ${last}.`;
  return `${said} ${spoken(store.get("answers")[last - 1])}${left}`;
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { build, data, state, asks: true };
