// A drawing of a machine, live: sizes are changed, and shapes, parameters and products follow.

import { grouped } from "../core/maths/number.js";
import {
  alertLine,
  el,
  inline,
  mark,
  nodes,
  note,
  numberBox,
  reset,
  scroller,
  setText,
  statusLine,
  table,
  tick,
  twin,
} from "../core/view/dom.js";
import { listed } from "../core/view/text.js";
import { drawing, label, onPhone } from "./drawing.js";
import { short, times, worked } from "./maths.js";

const data = ["picture", "ranges", "derived", "initial"];
const state = ["sizes", "letters", "opened"];

// a frame, such as a slide's, is no phone, and is made narrow while its size is sought
const narrow = matchMedia(window === window.top ? "(max-width: 480px)" : "not all");

const HINT = "Press a box to see what it computes; the arrow keys go from box to box.";

function build(store) {
  /** @type {any} */
  const view = {
    store,
    alert: alertLine(),
    problem: el("p", { class: "error", role: "alert" }),
    status: statusLine(),
    last: null,
  };
  const picture = store.get("picture");
  const table = twin("All boxes of the drawing", () => texts(view));
  view.controls = controls(view);
  view.place = scroller(picture.alt);
  mark(view.place, "drawing");
  view.panel = el("div", { class: "opened", "aria-live": "polite" });
  view.twin = table;
  view.node = el(
    "div",
    {},
    view.controls.node,
    view.alert.node,
    view.problem,
    view.place,
    view.panel,
    view.status,
    el("div", "foot", table.node, note(HINT)),
  );
  view.draw = () => draw(view);
  view.attach = () => {
    narrow.addEventListener("change", view.draw);
    return () => narrow.removeEventListener("change", view.draw);
  };
  return view;
}

/** The drawing that this screen has room for, made where it is another than before. */
function choose(view, picture) {
  const form = (narrow.matches && picture.phone) || picture;
  if (view.form === form) return;
  view.form = form;
  const { store } = view;
  view.drawing = drawing(form === picture ? picture : onPhone(picture), (at) =>
    store.set({ opened: at === store.get("opened") ? null : at }),
  );
  view.place.replaceChildren(view.drawing.node);
}

function draw(view) {
  const { store } = view;
  const [picture, derived, sizes] = ["picture", "derived", "sizes"].map((name) => store.get(name));
  view.last ??= { sizes: store.get("kept"), now: worked(picture, derived, store.get("kept")) };
  let problem = "";
  try {
    view.last = { sizes, now: worked(picture, derived, sizes) };
  } catch (error) {
    problem = `${error.message}. The drawing below is still that of ${said(store, view.last.sizes)}.`;
  }
  const { now } = view.last;
  view.controls.show();
  choose(view, picture);
  setText(view.problem, problem);
  mark(view.place, "stale", problem !== "");
  const letters = store.get("letters");
  view.drawing.show(
    picture.arrows.map((one, at) => (letters ? one.letters : times(now.arrows[at]))),
    picture.boxes.map((box, at) => written(box, now.boxes[at], letters)),
    store.get("opened"),
  );
  open(view, now);
  view.twin.show();
  setText(view.status, total(store, view.last));
}

const said = (store, sizes) => listed(store.get("ranges").map(([name]) => `${name} = ${grouped(sizes[name])}`));

/** "At n = 12 …: 1,050,624 parameters and 25,165,824 multiplications." */
function total(store, { sizes, now: { all, parameters, multiplications } }) {
  const none = Object.keys(all).filter((name) => all[name] === 0);
  const empty = none.length ? ` Where ${listed(none)} is 0, a shape holds no numbers.` : "";
  const sums = [parameters && `${grouped(parameters)} parameters`, `${grouped(multiplications)} multiplications`];
  return `At ${said(store, sizes)}: ${sums.filter(Boolean).join(" and ")}.${empty}`;
}

/** What stands in a box, and what is said of it. */
function written({ kind, label, letters: shape }, { shape: numbers, parameters, multiplications }, letters) {
  const count =
    kind === "learned" ? `${short(parameters)} param.` : kind === "operation" ? `${short(multiplications)} mult.` : "";
  const shown = letters ? shape : times(numbers);
  return { shape: shown, count, said: [label, shown, count].filter(Boolean).join(", ") };
}

function controls(view) {
  const { store, alert } = view;
  const parts = store.get("ranges").map((range) => size(store, alert.tell, range));
  const letters = tick("shapes in letters", (on) => store.set({ letters: on }));
  const node = el(
    "div",
    "controls",
    nodes(parts),
    letters.node,
    reset(view, "sizes", undefined, () => ({ kept: store.get("initial").sizes })),
  );
  const show = () => {
    parts.forEach((part) => part.show());
    letters.show(store.get("letters"));
  };
  return { node, show };
}

/** Whether all numbers are whole at these sizes. */
function good(store, sizes) {
  try {
    return worked(store.get("picture"), store.get("derived"), sizes);
  } catch {
    return false;
  }
}

/** A slider and a box for one size. */
function size(store, tell, [name, least, most, step]) {
  const change = (value) => {
    const sizes = { ...store.get("sizes"), [name]: value };
    store.set(good(store, sizes) ? { sizes, kept: sizes } : { sizes });
  };
  const slider = el("input", {
    type: "range",
    min: least,
    max: most,
    step,
    "aria-label": name,
    oninput: () => change(Number(slider.value)),
  });
  const box = numberBox({ label: `${name} as a number`, step, whole: true, least, most, change, tell });
  const show = () => {
    const now = store.get("sizes")[name];
    slider.value = now;
    slider.setAttribute("aria-valuetext", grouped(now));
    box.show(now);
  };
  return { node: el("div", "slide", el("span", { "aria-hidden": "true" }, label(name)), slider, box.node), show };
}

/** What the open box computes: its counts in letters and numbers, its text, its example. */
function open({ store, panel }, now) {
  const at = store.get("opened");
  if (at === null || at === undefined) return panel.replaceChildren();
  const box = store.get("picture").boxes[at];
  const { shape, parameters, multiplications } = now.boxes[at];
  const lines = [
    box.letters && `shape: ${box.letters} = ${times(shape)}`,
    box.parameters.text && `parameters: ${box.parameters.text} = ${grouped(parameters)}`,
    box.multiplications.text && `multiplications: ${box.multiplications.text} = ${grouped(multiplications)}`,
    box.times && `This is one of ${box.times.text} = ${grouped(now.boxes[at].times)}; the sums below count all.`,
  ];
  const [head, ...rows] = box.example;
  return panel.replaceChildren(
    el("p", "title", label(box.label)),
    el(
      "ul",
      {},
      lines.filter(Boolean).map((line) => el("li", {}, label(line))),
    ),
    box.about ? el("p", {}, inline(box.about)) : "",
    head ? scroller(`${box.label} in the running example`, table(head, rows)) : "",
  );
}

/** All boxes as texts: a row each. */
function texts({ store, last: { now } }) {
  const rows = store.get("picture").boxes.map(({ label, letters, times: often }, at) => {
    const { shape, parameters, multiplications } = now.boxes[at];
    const one = often ? `, one of ${often.text}` : "";
    return [label + one, letters, times(shape), grouped(parameters), grouped(multiplications)];
  });
  return [
    ["box", "in letters", "shape", "parameters", "multiplications"],
    ...rows,
    ["all together", "", "", grouped(now.parameters), grouped(now.multiplications)],
  ];
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { build, data, state, drawsTable: true };
export * as maths from "./maths.js";
