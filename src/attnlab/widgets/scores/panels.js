// Four scores side by side: each in its own plane, with each key's score and weight, and what the
// last change moved.

import { bar, el, mark, nodes, setText, table, tick } from "../core/view/dom.js";
import { fixed, plain } from "../core/view/text.js";
import { planes } from "./plane.js";

const NEAR = 1e-9; // what is no more than rounding

const SCORES = [
  ["dot", "q · k"],
  ["scaled dot", "q · k / √2"],
  ["bilinear", "q W kᵀ"],
  ["additive", "v · tanh(q W_q + k W_k)"],
];

/** The additive score's tanh, which can be left out. */
const bend = (view) =>
  tick("with tanh", (tanh) =>
    view.change({ label: "tanh", text: (now) => (now.tanh ? "there" : "left out") }, { tanh }),
  );

/** Text whose W_q and W_k have their letter set low. */
export const low = (text) => text.split(/_(\w)/).map((part, place) => (place % 2 ? el("sub", {}, part) : part));

export function panels(view) {
  const shown = view.kept(SCORES);
  const drawn = planes(view, shown.length);
  const parts = shown.map(([name, formula], s) => panel(view, s, name, formula, drawn.parts[s].node));
  const show = (now) => {
    drawn.show(now);
    parts.forEach((part) => part.show(now));
  };
  return { node: el("div", "four", nodes(parts)), show, fit: drawn.fit };
}

function panel(view, s, name, formula, plane) {
  const title = el("strong", {}, name);
  const letters = el("span", {}, low(formula));
  const lines = view.names.map((token) => {
    const [score, value] = ["score", "value"].map((one) => el("span", one));
    return { token, score, value, fill: bar() };
  });
  const moved = el("p");
  const bent = s === 3 ? bend(view) : null;
  const heads = ["key", view.alone ? "score ÷ √2" : "score", "weight"];
  const rows = lines.map(({ token, score, value, fill }) => [token, score, el("div", "weight", value, fill.node)]);
  const node = el(
    "div",
    { role: "group", "aria-label": name },
    view.alone ? null : el("p", "panelhead", title, letters),
    plane,
    el("div", "beside", table(heads, rows), moved, bent ? bent.node : ""),
  );
  const show = (now) => {
    const most = greatest(now.weights[s]);
    if (bent) {
      setText(title, now.tanh ? name : "sum, no tanh");
      letters.replaceChildren(...low(now.tanh ? formula : formula.replace("tanh", "")));
      bent.show(now.tanh);
    }
    lines.forEach(({ score, value, fill }, j) => {
      const weight = now.weights[s][j];
      setText(score, plain(now.scores[s][j]));
      setText(value, fixed(weight));
      mark(value, "most", most.includes(j));
      fill.show(weight);
    });
    setText(moved, view.moved ? shift(view, s) : "");
  };
  return { node, show };
}

const greatest = (weights) => weights.flatMap((weight, j) => (weight > Math.max(...weights) - NEAR ? [j] : []));

/** What the last change did to one score's weights. */
function shift({ names, from, now }, s) {
  const gaps = (kind) => now[kind][s].map((x, j) => Math.abs(x - from[kind][s][j]));
  if (Math.max(...gaps("scores")) < NEAR) return "No score moved.";
  const [j] = greatest(gaps("weights"));
  if (gaps("weights")[j] < NEAR) return "All scores moved alike: no weight moved.";
  return `${names[j]} ${fixed(from.weights[s][j])} → ${fixed(now.weights[s][j])}`;
}

/** What was changed, and whom each score gives its greatest weight. */
export function said({ alone, names, moved, from, now }) {
  const found = now.weights.map((weights, s) => {
    const most = greatest(weights);
    const whose = `${most.map((j) => names[j]).join(" and ")} (${fixed(weights[most[0]])})`;
    const name = s === 3 && !now.tanh ? "sum" : SCORES[s][0];
    return alone ? whose : `by ${name}: ${whose}`;
  });
  const change = moved ? `${moved.label}: ${moved.text(from)} → ${moved.text(now)}. ` : "";
  return `${change}Greatest weight${alone ? ":" : ""} ${found.join("; ").replaceAll("; by", ";")}.`;
}
