// Self-attention of one query, step by step, from vectors that the reader edits.

import { times } from "../core/maths/lists.js";
import { oneQuery } from "../core/maths/nn.js";
import { masking } from "../core/view/controls.js";
import {
  alertLine,
  bar,
  button,
  changed,
  choice,
  el,
  mark,
  nodes,
  numberBox,
  reset,
  scroller,
  setText,
  statusLine,
  grid as tableOf,
  tick,
} from "../core/view/dom.js";
import { stepper } from "../core/view/stepper.js";
import { fixed, plain, vector, visible } from "../core/view/text.js";
import { numbers, STEPS } from "./formulas.js";

const data = ["tokens", "initial"];
const state = ["vectors", "query", "scaled", "causal", "step"];

const MOST = 1e6; // a larger component would only fill the table with digits
const LAST = STEPS.length - 1;

function build(store) {
  /** @type {any} */
  const view = { store, names: store.get("tokens").map(visible) };
  view.alert = alertLine();
  view.settings = settings(view);
  view.stepper = along(view);
  view.grid = grid(view);
  view.formula = el("div", "formula");
  view.output = statusLine();
  view.node = el(
    "div",
    {},
    view.settings.node,
    view.grid.node,
    view.alert.node,
    view.stepper.node,
    view.formula,
    view.output,
  );
  view.draw = () => draw(view);
  return view;
}

function draw(view) {
  const { store, names } = view;
  const [vectors, query, scaled, causal] = state.map((name) => store.get(name));
  const step = store.get("step");
  const given = { vectors, query, scaled, causal, names };
  const now = { ...given, ...oneQuery(given) };
  view.settings.show(now);
  view.stepper.show();
  view.grid.show(now, step);
  const { says, letters } = STEPS[step];
  view.formula.replaceChildren(
    el("p", {}, says),
    el("p", "letters", letters().flat()),
    el(
      "ul",
      {},
      numbers(step, now).map((line) => el("li", {}, line)),
    ),
  );
  const result = `the output of ${names[query]} is ${vector(now.output, fixed)}`;
  setText(view.output, `Step ${step + 1} of ${STEPS.length}: ${step === LAST ? result : STEPS[step].name}.`);
}

function settings(view) {
  const { store, names } = view;
  const choose = choice("query", names, (query) => store.set({ query }));
  const d = store.get("vectors")[0].length;
  const scaled = tick(`divide by √${d}`, (on) => store.set({ scaled: on }));
  const causal = masking(store);
  const node = el(
    "div",
    "controls",
    choose.node,
    scaled.node,
    causal.node,
    reset(view, "numbers", undefined, () => ({ step: store.get("step") })),
  );
  const show = (now) => {
    choose.show(now.query);
    scaled.show(now.scaled);
    causal.show();
  };
  return { node, show };
}

/** Previous, the five steps by name, next. */
function along(view) {
  const go = (step) => view.store.set({ step });
  const at = () => view.store.get("step");
  const names = STEPS.map(({ name }, step) => button(`${step + 1} ${name}`, () => go(step)));
  const inner = el("div", "names", names);
  const steps = stepper({ what: "steps", inner, at, last: () => LAST, go });
  const show = () => {
    steps.show();
    names.forEach((name, place) => {
      if (place === at()) name.setAttribute("aria-current", "step");
      else name.removeAttribute("aria-current");
      mark(name, "done", place < at());
    });
  };
  return { node: steps.node, show };
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
  const node = scroller(
    "Vectors and what each step makes of them",
    tableOf(
      [el("th", { scope: "col" }, "token"), el("th", { scope: "colgroup", colspan: width }, "vector x"), heads],
      nodes(rows),
    ),
  );
  const show = (now, step) => {
    heads.forEach((head, column) => {
      head.hidden = hidden(column, now, step);
    });
    rows.forEach((line) => line.show(now, step));
  };
  return { node, show };
}

function row(view, name, j, width) {
  const inputs = times(width, (c) => component(view, name, j, c));
  const cells = COLUMNS.map(() => el("td"));
  const fill = bar();
  const value = el("span", "value");
  const node = el(
    "tr",
    {},
    el("th", { scope: "row" }, name),
    inputs.map(({ node: input }) => el("td", "component", input)),
    cells,
  );
  const show = (now, step) => {
    mark(node, "query", j === now.query);
    inputs.forEach((input) => input.show(now.vectors));
    cells.forEach((cell, column) => {
      cell.hidden = hidden(column, now, step);
    });
    const said = [plain(now.raw[j]), plain(now.ready[j]), now.may[j] ? "kept" : "masked"];
    said.forEach((text, column) => setText(cells[column], text));
    setText(value, now.may[j] ? fixed(now.weights[j]) : "masked");
    fill.show(now.weights[j]);
  };
  mark(cells[3], "weight");
  cells[3].append(fill.node, value);
  return { node, show };
}

/** One editable number. */
function component({ store, alert }, name, j, c) {
  const box = numberBox({
    label: `${name}, component ${c + 1}`,
    most: MOST,
    change: (value) => store.set(changed(store, "vectors", j, c, value)),
    tell: alert.tell,
  });
  return { node: box.node, show: (vectors) => box.show(vectors[j][c]) };
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Self-attention, step by step", build, data, state, drawsTable: true };
