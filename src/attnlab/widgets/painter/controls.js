// The painter's controls: ready-made masks, what a masked score becomes, scale and temperature.

import { settings as common } from "../core/view/controls.js";
import { button, choice, el, mark, nodes, pressed, reset, setText, tick } from "../core/view/dom.js";
import { visible } from "../core/view/text.js";
import { namedMask } from "./maths.js";

const FILLS = {
  none: "−∞; an empty row gets 0 (this book)",
  nan: "−∞; an empty row is NaN",
  "-1e10": "−10¹⁰; an empty row is uniform",
  zero: "0: a bug, as exp 0 = 1",
};

export function settings(view) {
  const { store } = view;
  const names = Object.keys(FILLS);
  const fill = choice("a masked score becomes", Object.values(FILLS), (place) => store.set({ fill: names[place] }));
  mark(fill.node, "fill");
  const filled = { node: fill.node, show: () => fill.show(names.indexOf(store.get("fill"))) };
  return common(view, [filled], reset(view, "mask and settings"));
}

const padded = (count) => (count === 1 ? "last is padding" : `last ${count} are padding`);

/** The presets that have a name, each as [name, label]. */
export function namedPresets(store) {
  const [, nK] = store.get("shape");
  const count = nK - store.get("length");
  const named = [
    ["all", "all"],
    ["causal", "causal"],
    ["past", "strictly past"],
    ["padding", padded(count)],
    ["both", "causal and padding"],
    ["window", "window of 2"],
  ];
  return count ? named : named.filter(([name]) => name !== "padding" && name !== "both");
}

export const sameMask = (a, b) => a.every((one, at) => Number(one) === Number(b[at]));

/** The ready-made masks; one that is there now is pressed. */
export function presets(view) {
  const { store, nQ, nK } = view;
  const made = namedPresets(store).map(([name, label]) => {
    const mask = namedMask(name, nQ, nK, store.get("length"));
    return { mask, node: button(label, () => store.set({ mask: [...mask] })) };
  });
  const row = () => store.get("pinned") ?? 0;
  const now = () => store.get("mask");
  const empty = button(
    "",
    () => store.set({ mask: now().map((one, at) => (Math.floor(at / nK) === row() ? 0 : one)) }),
    { class: "token" },
  );
  const invert = button("swap 0 and 1", () => store.set({ mask: now().map((one) => 1 - one) }));
  const show = () => {
    made.forEach(({ node, mask }) => pressed(node, sameMask(mask, now())));
    setText(empty, `nothing for ${visible(view.tokens[row()])}`);
  };
  const node = el("div", { class: "presets", role: "group", "aria-label": "masks" }, nodes(made), empty, invert);
  return { node, show };
}

/** Weights, or the gradient that flows back to the scores. */
export function showSwitch(store) {
  const box = tick("show the gradient", (on) => store.set({ show: on ? "gradient" : "weights" }));
  return { node: box.node, show: () => box.show(store.get("show") === "gradient") };
}
