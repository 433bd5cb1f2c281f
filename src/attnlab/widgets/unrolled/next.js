// The distribution of the next word as bars; a press on one puts that word in the model's place.

import { bar, button, el, nodes, note, pressed, setText } from "../core/view/dom.js";
import { fixed } from "../core/view/text.js";
import { low } from "./net.js";

const MOST = 8; // bars; the rest are one number
const FIRST = 2; // <pad> and <bos> cannot be forced; <eos>, which comes next, can

export function choices(view) {
  const bars = view.names.slice(0, MOST).map(() => line(view));
  const title = el("p");
  const rest = note();
  const node = el("div", "side next", title, el("ol", {}, nodes(bars)), rest);
  const show = ({ t, steps }) => {
    node.hidden = t < 1;
    if (node.hidden) return;
    const { p } = steps[t - 1];
    const order = view.names.map((_, id) => id).sort((a, b) => p[b] - p[a] || a - b);
    setText(title, `The next word, y${low(t)}. Press one to force it: the decoder then reads it.`);
    bars.forEach((one, place) => one.show(order[place]));
    const others = order.slice(MOST);
    rest.hidden = !others.length;
    setText(
      rest,
      `The other ${others.length} words together: ` + `${fixed(others.reduce((sum, id) => sum + p[id], 0))}.`,
    );
  };
  return { node, show };
}

/** One word: a button that forces it, its bar and its probability. */
function line(view) {
  let id = 0;
  const word = button("", () => {
    const { t, steps, forced } = view.now;
    const name = view.target[id];
    if (id >= FIRST) view.force(t, id === steps[t - 1].best || forced[t] === name ? null : name);
  });
  const value = el("span", "value");
  const fill = bar();
  const node = el("li", {}, word, fill.node, value);
  const show = (now) => {
    id = now;
    const { p, word: taken } = view.now.steps[view.now.t - 1];
    setText(word, view.names[id]);
    pressed(word, id === taken);
    word.setAttribute("aria-disabled", id < FIRST);
    setText(value, fixed(p[id]));
    fill.show(p[id]);
  };
  return { node, show };
}
