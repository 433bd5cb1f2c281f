// Every head: where it looks in the reader's text, a box that takes it out, and its two scores.

import { times } from "../../core/maths/lists.js";
import { bar, el, mark, setText, setVar } from "../../core/view/dom.js";
import { makeHead, paint } from "../../core/view/frame.js";
import { drawPicture } from "../../core/view/picture.js";
import { onCanvas } from "../../core/view/plot.js";
import { fixed, visible } from "../../core/view/text.js";

const LABEL = { most: 12, least: 9, widest: 44, measured: 14 };
const TOP = 17; // of the axes' names

/** "layer 0" where a layer has one head, else "head 0.2". */
export const headName = (layer, head, heads) => (heads > 1 ? `head ${layer}.${head}` : `layer ${layer}`);

export const isOff = (off, layer, head) => off.some(([l, h]) => l === layer && h === head);

/** Sizes of a small map that has its keys above and its queries on the left. */
function layout(width, tokens, measure) {
  const n = tokens.length;
  const long = Math.ceil(Math.max(...tokens.map((token) => measure(visible(token)))));
  const left = Math.min(long, LABEL.widest) + 7;
  const cell = Math.max(3, Math.floor((width - left - 2) / n));
  const label = Math.max(LABEL.least, Math.min(LABEL.most, cell));
  const every = Math.ceil(label / (cell + 2));
  const wide = (long * label) / LABEL.measured;
  const upright = wide > every * cell + 1;
  const columns = (upright ? Math.min(wide, LABEL.widest) : label) + 5;
  return {
    cell,
    label,
    left: left + 1,
    top: TOP + columns,
    upright,
    room: LABEL.widest,
    columnRoom: LABEL.widest,
    every,
    axis: width > 150 ? 12 : 9,
    width: left + 3 + cell * n,
    height: TOP + columns + cell * n + 2,
  };
}

function card(view, layer, head) {
  const { store } = view;
  const canvas = el("canvas", { "aria-hidden": "true" });
  const flip = () => {
    const off = store.get("off");
    const rest = off.filter(([l, h]) => l !== layer || h !== head);
    store.set({ off: rest.length < off.length ? rest : [...off, [layer, head]].sort() });
  };
  const box = el("input", { type: "checkbox", onchange: flip });
  const name = el("span");
  const label = el("label", {}, box, name);
  const many = store.get("heads") > 1;
  const lines = (many ? ["previous", "came next"] : ["previous symbol", "what came next"]).map((text) => ({
    text: el("span", {}, text),
    bar: bar(),
    value: el("span", "value"),
  }));
  const scores = el(
    "div",
    "scores",
    lines.flatMap((line) => [line.text, line.bar.node, line.value]),
  );
  const node = el("div", "card", label, canvas, scores);
  let map = null;
  const show = ({ maps, tokens, heads, previous, next, out, width }) => {
    const n = tokens.length;
    if (map?.nQ !== n) map = makeHead(null, n, n);
    map.weights.set(maps[layer][head]);
    paint(map, view.may, view.ramp);
    const measure = view.measured(canvas);
    const at = layout(width, tokens, measure);
    const what = { head: map, tokens, keyTokens: tokens, pinned: null, cursor: null, axes: ["", ""] };
    // a label that stands for several columns has the room of all of them
    const small = (text) => (measure(text) * at.label) / LABEL.measured / at.every;
    onCanvas(canvas, at, view.family, (pen) => {
      drawPicture(pen, at, what, view.palette, small);
      pen.text("query ↓  attends to →", 0, TOP / 2, { size: at.axis, colour: view.palette.muted });
    });
    const gone = isOff(out, layer, head);
    box.checked = !gone;
    mark(node, "out", gone);
    setText(name, headName(layer, head, heads));
    [previous, next].forEach((all, place) => {
      const score = all?.[layer * heads + head] ?? null;
      lines[place].bar.show(score ?? 0);
      setText(lines[place].value, score === null ? "–" : fixed(score, 2));
    });
  };
  return { node, show };
}

/** All heads of all layers, made anew where their number changes. */
export function allHeads(view) {
  const node = el("div", { class: "cards", role: "group", "aria-label": "heads; a box takes one out" });
  let [made, cards] = ["", []];
  let [sized, wide] = ["", 0];
  const show = (now) => {
    const { layers, heads } = now;
    if (made !== `${layers} ${heads}`) {
      made = `${layers} ${heads}`;
      cards = times(layers, (layer) => times(heads, (head) => card(view, layer, head))).flat();
      node.replaceChildren(...cards.map((one) => one.node));
      setVar(node, "columns", heads > 1 ? heads : 2);
      mark(node, "many", heads > 1);
    }
    const place = `${made} ${view.width}`;
    if (sized !== place) wide = cards[0].node.clientWidth || 100; // asked for seldom: a browser lays all out for it
    sized = place;
    cards.forEach((one) => one.show({ ...now, width: wide }));
  };
  return { node, show };
}
