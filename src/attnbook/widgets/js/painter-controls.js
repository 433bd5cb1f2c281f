// The painter's controls: ready-made masks, what a masked score becomes, scale and temperature.

import { button, el, setText, tick } from "./dom.js";
import { temperature } from "./heatmap-controls.js";
import { namedMask } from "./math.js";
import { visible } from "./text.js";

const FILLS = {
  none: "−∞; an empty row gets 0 (this book)",
  nan: "−∞; an empty row is NaN",
  "-1e10": "−10¹⁰; an empty row is uniform",
  zero: "0: a bug, as exp 0 = 1",
};

export function settings(view) {
  const { store } = view;
  const error = el("p", { class: "attnbook-error", role: "alert" });
  const heat = temperature(store, (message) => setText(error, message));
  const d = store.get("d");
  const scaled = d > 1 ? tick(`divide by √${d}`, (on) => store.set({ scaled: on })) : null;
  const names = Object.keys(FILLS);
  const fill = el("select", { onchange: () => store.set({ fill: names[fill.selectedIndex] }) },
    names.map((name) => el("option", {}, FILLS[name])));
  const reset = button("reset", () => {
    setText(error, "");
    store.set(structuredClone(store.get("initial")));
  }, { "aria-label": "reset to the first mask and settings" });
  const show = () => {
    heat.show();
    scaled?.show(store.get("scaled"));
    fill.selectedIndex = names.indexOf(store.get("fill"));
  };
  const node = el("div", {},
    el("div", { class: "attnbook-controls" }, heat.node, scaled?.node,
      el("label", { class: "attnbook-fill" }, el("span", {}, "a masked score becomes"), fill),
      reset),
    error);
  return { node, show };
}

const padded = (count) => (count === 1 ? "last is padding" : `last ${count} are padding`);

/** The presets that have a name, each as [name, label]. */
export function namedPresets(store) {
  const [, nK] = store.get("shape");
  const count = nK - store.get("length");
  const named = [["all", "all"], ["causal", "causal"], ["past", "strictly past"],
    ["padding", padded(count)], ["both", "causal and padding"], ["window", "window of 2"]];
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
  const empty = button("", () => store.set({
    mask: now().map((one, at) => (Math.floor(at / nK) === row() ? 0 : one)),
  }), { class: "attnbook-token" });
  const invert = button("swap 0 and 1", () => store.set({ mask: now().map((one) => 1 - one) }));
  const show = () => {
    made.forEach(({ node, mask }) => node.setAttribute("aria-pressed", sameMask(mask, now())));
    setText(empty, `nothing for ${visible(view.tokens[row()])}`);
  };
  const node = el("div", { class: "attnbook-presets", role: "group", "aria-label": "masks" },
    made.map(({ node: one }) => one), empty, invert);
  return { node, show };
}

/** Weights, or the gradient that flows back to the scores. */
export function showSwitch(store) {
  const box = tick("show the gradient", (on) => store.set({ show: on ? "gradient" : "weights" }));
  return { node: box.node, show: () => box.show(store.get("show") === "gradient") };
}
