// A task by examples alone: the reader chooses how many solved examples stand before the question,
// and sees the prompt, the next tokens, and which of the task's words come out right. All recorded.

import { times } from "../core/maths/lists.js";
import {
  alertLine,
  bar,
  button,
  choice,
  el,
  mark,
  nodes,
  note,
  pressed,
  reset,
  setText,
  statusLine,
  tick,
  together,
  twin,
} from "../core/view/dom.js";
import { oneStop } from "../core/view/stop.js";
import { fixed } from "../core/view/text.js";
import { examples, right, row } from "./maths.js";
import { cells, counted, said, scored, shown } from "./words.js";

const data = ["tasks", "initial"];
const state = ["task", "word", "count", "exchanged"];

const NOTE =
  "Recorded: the model is not in this page, so it answers these prompts alone. " +
  "␣ is the space that a token begins with, ↵ the end of a line; ✓ marks the token that the right answer begins with.";

function build(store) {
  const view = { store, alert: alertLine(), status: statusLine() };
  const parts = [settings(view), prompt(store), tokens(store), words(store)];
  const [controls, left, bars, asked] = nodes(parts);
  const table = twin("Each word, and what is written", () => cells(worked(store)), "all words as a table");
  const main = el("div", "main", left, bars);
  const node = el("div", {}, controls, main, asked, view.status, note(NOTE), el("div", "foot", table.node));
  const draw = () => {
    const now = worked(store);
    parts.forEach((part) => part.show(now));
    table.show();
    setText(view.status, said(now));
  };
  return Object.assign(view, { node, draw });
}

/** Everything that follows from the state. */
function worked(store) {
  const [place, word, count, exchanged] = state.map((name) => store.get(name));
  const task = store.get("tasks")[place];
  const found = row(task, count, exchanged);
  return { place, task, word, count, exchanged, found, rights: right(task, found) };
}

function settings(view) {
  const { store } = view;
  const names = store.get("tasks").map(({ name }) => name);
  const task = choice("task", names, (place) => store.set({ task: place }));
  const exchange = tick("answers exchanged", (on) => store.set({ exchanged: on }));
  const parts = [
    { node: task.node, show: ({ place }) => task.show(place) },
    many(store),
    { node: exchange.node, show: ({ exchanged }) => exchange.show(exchanged) },
  ];
  return together(el("div", "controls", nodes(parts), reset(view, "settings")), parts);
}

/** How many examples there are. */
function many(store) {
  const slider = el("input", {
    type: "range",
    min: 0,
    max: store.get("tasks")[0].shown.length,
    "aria-label": "examples",
    oninput: () => store.set({ count: Number(slider.value) }),
  });
  const value = el("span", "value");
  const show = ({ count }) => {
    slider.value = count;
    slider.setAttribute("aria-valuetext", counted(count));
    setText(value, String(count));
  };
  return { node: el("div", "slide", el("span", { "aria-hidden": "true" }, "examples"), slider, value), show };
}

/** What is read, a line for each example, and after the question what is written. */
function prompt(store) {
  const list = el("ol", "prompt");
  const most = store.get("tasks")[0].shown.length;
  const lines = times(most + 1, () => {
    const [text, answer, sign] = [el("span"), el("b"), el("span", { "aria-hidden": "true" })];
    return { node: el("li", {}, text, answer, sign), text, answer, sign };
  });
  list.append(...nodes(lines));
  const show = ({ task, word, count, exchanged, found, rights }) => {
    const read = examples(task.shown, count, exchanged);
    lines.forEach(({ node, text, answer, sign }, at) => {
      const asked = at === count;
      node.hidden = at > count;
      if (node.hidden) return;
      const [one, other] = asked ? [task.asked[word][0], found[word].said] : read[at];
      mark(node, "asked", asked);
      mark(node, "moved", !asked && other !== task.shown[at][1]);
      mark(node, "fits", asked && rights[word]);
      setText(text, `${one} -> `);
      setText(answer, other);
      setText(sign, asked ? signed(rights[word]) : "");
    });
  };
  return { node: el("div", "read", el("p", "title", "What SmolLM2 reads, and what it writes"), list), show };
}

const signed = (fits) => (fits ? " ✓" : " ✗");

/** The most probable next tokens as bars. */
function tokens(store) {
  const most = Math.max(...store.get("tasks").flatMap(({ rows }) => rows.flat().map(({ top }) => top.length)));
  const lines = times(most, () => {
    const [token, value, fill] = [el("span", "token"), el("span", "value"), bar()];
    return { node: el("li", {}, token, fill.node, value), token, value, fill };
  });
  const title = el("p", "title", "The most probable next tokens");
  const show = ({ task, word, found }) => {
    const { top } = found[word];
    lines.forEach(({ node, token, value, fill }, at) => {
      node.hidden = at >= top.length;
      if (node.hidden) return;
      const [text, p] = top[at];
      const fits = text === task.first[word];
      mark(node, "fits", fits);
      setText(token, shown(text) + (fits ? " ✓" : ""));
      setText(value, fixed(p, 2));
      fill.show(p);
    });
  };
  return { node: el("div", "side", title, el("ol", {}, nodes(lines))), show };
}

/** Each word that the task asks: right or wrong, and a press asks it. */
function words(store) {
  const title = el("p", "title");
  const buttons = store.get("tasks")[0].asked.map((_, word) => button("", () => store.set({ word })));
  const group = el("div", { class: "hits", role: "group", "aria-label": "words" }, buttons);
  oneStop(group, buttons);
  const show = (now) => {
    setText(title, scored(now));
    buttons.forEach((one, at) => {
      const [word] = now.task.asked[at];
      const fits = now.rights[at];
      setText(one, word + signed(fits));
      one.setAttribute("aria-label", `${word}, ${fits ? "right" : "wrong"}`);
      mark(one, "fits", fits);
      pressed(one, at === now.word);
    });
  };
  return { node: el("div", {}, title, group), show };
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "A task by examples", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
