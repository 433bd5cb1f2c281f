// One token's vector on its way through an encoder block, stage by stage, with switches.

import { times } from "../core/maths/lists.js";
import {
  alertLine,
  changed,
  choice,
  el,
  nodes,
  note,
  numberBox,
  reset,
  setText,
  settingsFold,
  statusLine,
  tick,
  together,
  twin,
} from "../core/view/dom.js";
import { stepper } from "../core/view/stepper.js";
import { read } from "../core/view/store.js";
import { fixed, plain, quoted, visible } from "../core/view/text.js";
import { blockFlow, traced } from "./maths.js";
import { measured, named, short, stageList, strip, weightTable } from "./stages.js";

const data = ["tokens", "initial", "layer", "step"];
const state = ["vectors", "token", "norm", "residual", "blocks", "shown"];

const MOST = 100; // of a number of x
const MOST_BLOCKS = 12;
const NORMS = { pre: "pre: before each part", post: "post: after each sum", none: "none" };

function build(store) {
  /** @type {any} */
  const view = { store, names: store.get("tokens").map(visible), alert: alertLine(), status: statusLine() };
  const table = twin("All stages of the chosen token", () => texts(view));
  view.parts = [settings(view), strip(view), along(view), stageList(), weightTable(view), remark(), table];
  const [top, after, steps, flow, weights, hint, folded] = nodes(view.parts);
  view.node = el(
    "div",
    {},
    top,
    view.alert.node,
    after,
    steps,
    flow,
    weights,
    view.status,
    el("div", "foot", folded, hint),
  );
  view.draw = () => draw(view);
  return view;
}

function draw(view) {
  const given = read(view.store, state);
  const flow = blockFlow({ ...given, layer: view.store.get("layer") });
  const at = Math.min(given.shown, given.blocks);
  const trace = traced(flow, given.vectors, given.token);
  view.now = { ...given, ...flow[at - 1], at, trace };
  view.parts.forEach((part) => part.show(view.now));
  setText(view.status, said(view));
}

/** What is left of the vector after all blocks. */
function said({ names, now: { trace, token, blocks, norm, residual } }) {
  const { length, sd, first, others } = trace[blocks];
  const cosines = first === null ? "" : `, cosine ${fixed(first)} with its first vector`;
  const alike = others === null ? "" : ` and ${fixed(others)} with the other tokens on average`;
  return (
    `After ${blocks === 1 ? "1 block" : `${blocks} blocks`}, ${norm === "none" ? "no" : norm}` +
    `${norm === "none" ? " norm" : "-norm"}, ${residual ? "with" : "without"} the sum: ` +
    `${quoted(names[token])} has length ${short(length)}, sd ${short(sd)}${cosines}${alike}.`
  );
}

function settings(view) {
  const { store, names } = view;
  const keys = Object.keys(NORMS);
  const token = choice("token", names, (to) => store.set({ token: to }));
  const norm = choice("norm", Object.values(NORMS), (to) => store.set({ norm: keys[to] }));
  const residual = tick("residual sum", (on) => store.set({ residual: on }));
  const blocks = choice(
    "blocks",
    times(MOST_BLOCKS, (b) => String(b + 1)),
    (to) => store.set({ blocks: to + 1 }),
  );
  const x = own(view);
  const fold = settingsFold(nodes([blocks, token, x]));
  const node = el("div", {}, el("div", "controls", nodes([residual, norm]), reset(view, "numbers and switches")), fold);
  const show = (now) => {
    token.show(now.token);
    norm.show(keys.indexOf(now.norm));
    residual.show(now.residual);
    blocks.show(now.blocks - 1);
    x.show(now);
  };
  return { node, show };
}

/** The chosen token's own vector, to be edited. */
function own({ store, alert }) {
  const boxes = store.get("vectors")[0].map((_, c) => {
    const box = numberBox({
      label: `number ${c + 1} of x`,
      most: MOST,
      step: store.get("step"),
      tell: alert.tell,
      change: (value) => store.set(changed(store, "vectors", store.get("token"), c, value)),
    });
    const show = ({ vectors, token }) => box.show(vectors[token][c], plain(vectors[token][c]));
    return { node: box.node, show };
  });
  return together(el("div", "own", "x =", nodes(boxes)), boxes);
}

/** Which of several blocks has its stages drawn. */
function along({ store }) {
  const at = () => Math.min(store.get("shown"), store.get("blocks"));
  const steps = stepper({
    what: "blocks",
    at: () => at() - 1,
    last: () => store.get("blocks") - 1,
    go: (b) => store.set({ shown: b + 1 }),
    told: () => `stages of block ${at()} of ${store.get("blocks")}`,
  });
  const show = ({ blocks }) => {
    steps.node.hidden = blocks === 1;
    steps.show();
  };
  return { node: steps.node, show };
}

function remark() {
  const node = note();
  const show = ({ blocks, norm }) => {
    node.hidden = blocks === 1;
    setText(
      node,
      "All blocks have the same weights here; in a model each has its own." +
        (norm === "pre" ? " The norm that ends a pre-norm stack is left out." : ""),
    );
  };
  return { node, show };
}

/** All stages as texts: a row each. */
function texts({ now }) {
  const { stages, token } = now;
  const rows = stages.map(({ rows: all }, s) => [
    named(now, s),
    ...all[token].map((value) => short(value)),
    ...measured(all[token]).map(([, text]) => text),
  ]);
  const columns = stages[0].rows[0].map((_, c) => c + 1);
  return [["stage", ...columns, "mean", "sd", "length"], ...rows];
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "An encoder block", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
