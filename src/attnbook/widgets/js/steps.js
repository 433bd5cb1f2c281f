// Self-attention of one query, step by step, from vectors that the reader edits.

import { button, el, numberBox, scroller, setText, tick } from "./dom.js";
import { STEPS, numbers } from "./formulas.js";
import { worked } from "./math.js";
import { fixed, plain, vector, visible } from "./text.js";

export const data = ["tokens", "initial"];
export const state = ["vectors", "query", "scaled", "causal", "step"];
export const drawsTable = true;

const MOST = 1e6; // a larger component would only fill the table with digits
const LAST = STEPS.length - 1;

export function build(store) {
  const view = { store, names: store.get("tokens").map(visible) };
  view.settings = settings(view);
  view.stepper = stepper(view);
  view.grid = grid(view);
  view.message = el("p", { class: "attnbook-error", role: "alert" });
  view.formula = el("div", { class: "attnbook-formula" });
  view.output = el("p", { class: "attnbook-status", role: "status" });
  view.node = el("div", {}, view.settings.node, view.grid.node, view.message, view.stepper.node,
    view.formula, view.output);
  view.draw = () => draw(view);
  return view;
}

function draw(view) {
  const { store, names } = view;
  const [vectors, query, scaled, causal, step] = state.map((name) => store.get(name));
  const given = { vectors, query, scaled, causal, names };
  const now = { ...given, ...worked(given) };
  view.settings.show(now);
  view.stepper.show(step);
  view.grid.show(now, step);
  const { says, letters } = STEPS[step];
  view.formula.replaceChildren(
    el("p", {}, says),
    el("p", { class: "attnbook-letters" }, letters().flat()),
    el("ul", {}, numbers(step, now).map((line) => el("li", {}, line))));
  const result = `the output of ${names[query]} is ${vector(now.output, fixed)}`;
  setText(view.output,
    `Step ${step + 1} of ${STEPS.length}: ${step === LAST ? result : STEPS[step].name}.`);
}

function settings(view) {
  const { store, names } = view;
  const choose = el("select", { onchange: () => store.set({ query: choose.selectedIndex }) },
    names.map((name) => el("option", {}, name)));
  const d = store.get("vectors")[0].length;
  const scaled = tick(`divide by √${d}`, (on) => store.set({ scaled: on }));
  const causal = tick("causal mask", (on) => store.set({ causal: on }));
  const reset = button("reset", () => {
    clearErrors(view);
    store.set({ ...store.get("initial"), step: store.get("step") });
  }, { "aria-label": "reset to the first numbers" });
  const node = el("div", { class: "attnbook-controls" },
    el("label", { class: "attnbook-choose" }, el("span", {}, "query"), choose),
    scaled.node, causal.node, reset);
  const show = (now) => {
    choose.selectedIndex = now.query;
    scaled.show(now.scaled);
    causal.show(now.causal);
  };
  return { node, show };
}

/** Previous, the five steps by name, next; ← and → work on any of them. */
function stepper({ store }) {
  const go = (step) => store.set({ step: Math.max(0, Math.min(LAST, step)) });
  const by = (change) => go(store.get("step") + change);
  const names = STEPS.map(({ name }, step) => button(`${step + 1} ${name}`, () => go(step)));
  const back = button("previous", () => by(-1));
  const on = button("next", () => by(1));
  const node = el("div", {
    class: "attnbook-stepper", role: "group", "aria-label": "steps; left and right arrow keys move",
    onkeydown(event) {
      const change = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!change || event.altKey || event.ctrlKey || event.metaKey) return;
      by(change);
      event.preventDefault();
      event.stopPropagation();
    },
  }, back, el("div", { class: "attnbook-names" }, names), on);
  const show = (step) => {
    names.forEach((name, place) => {
      if (place === step) name.setAttribute("aria-current", "step");
      else name.removeAttribute("aria-current");
      name.classList.toggle("attnbook-done", place < step);
    });
    // not `disabled`: that would take the keyboard's focus away at either end
    back.setAttribute("aria-disabled", String(step === 0));
    on.setAttribute("aria-disabled", String(step === LAST));
  };
  return { node, show };
}

const COLUMNS = ["score", "scaled", "mask", "weight"];

/** A column waits for its step; what is not scaled has no column of scaled scores. */
const hidden = (column, { scaled }, step) => column > step || (column === 1 && !scaled);

/** One row a token: its vector, editable, and a column for each finished step. */
function grid(view) {
  const { store, names } = view;
  const width = store.get("vectors")[0].length;
  const heads = COLUMNS.map((name) => el("th", { scope: "col" }, name));
  const rows = names.map((name, j) => row(view, name, j, width));
  const node = scroller("Vectors and what each step makes of them", el("table", {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "token"),
      el("th", { scope: "colgroup", colspan: String(width) }, "vector x"), heads)),
    el("tbody", {}, rows.map(({ node: line }) => line))));
  const show = (now, step) => {
    heads.forEach((head, column) => { head.hidden = hidden(column, now, step); });
    rows.forEach((line) => line.show(now, step));
  };
  return { node, show, inputs: rows.flatMap(({ inputs }) => inputs) };
}

function row(view, name, j, width) {
  const inputs = Array.from({ length: width }, (_, c) => component(view, name, j, c));
  const cells = COLUMNS.map(() => el("td", {}));
  const bar = el("span", { class: "attnbook-bar" }, el("span", {}));
  const value = el("span", { class: "attnbook-value" });
  const node = el("tr", {}, el("th", { scope: "row" }, name),
    inputs.map(({ node: input }) => el("td", { class: "attnbook-component" }, input)), cells);
  const show = (now, step) => {
    node.classList.toggle("attnbook-query", j === now.query);
    inputs.forEach((input) => input.show(now.vectors));
    cells.forEach((cell, column) => { cell.hidden = hidden(column, now, step); });
    const said = [plain(now.raw[j]), plain(now.ready[j]), now.may[j] ? "kept" : "masked"];
    said.forEach((text, column) => setText(cells[column], text));
    setText(value, now.may[j] ? fixed(now.weights[j]) : "masked");
    bar.firstChild.style.width = `${100 * now.weights[j]}%`;
  };
  cells[3].className = "attnbook-weight";
  cells[3].append(bar, value);
  return { node, show, inputs };
}

/** One editable number. */
function component(view, name, j, c) {
  const { store } = view;
  const box = numberBox({
    label: `${name}, component ${c + 1}`, wanted: "a number from −1 000 000 to 1 000 000",
    usable: (value) => Math.abs(value) <= MOST,
    change(value) {
      const vectors = store.get("vectors").map((values) => [...values]);
      vectors[j][c] = value;
      store.set({ vectors });
    },
    tell: (message) => setText(view.message, message),
  });
  return { node: box.node, show: (vectors) => box.show(vectors[j][c], String(vectors[j][c])) };
}

function clearErrors(view) {
  for (const { node } of view.grid.inputs) node.removeAttribute("aria-invalid");
  setText(view.message, "");
  // a reset to the very numbers that are there still has to redraw the inputs
  view.draw();
}
