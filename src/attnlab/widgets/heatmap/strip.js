// Small pictures of all heads, each a button.

import { el, pressed } from "../core/view/dom.js";

/** Small pictures of all heads, each a button; null where there is one head only. */
export function headStrip({ heads, store }) {
  if (heads.length === 1) return null;
  const buttons = heads.map((head, h) =>
    el(
      "button",
      { type: "button", class: "head", "aria-label": `head ${h}`, onclick: () => store.set({ head: h }) },
      head.canvas,
      el("span", {}, String(h)),
    ),
  );
  const props = { class: "strip", role: "group", "aria-label": "heads" };
  return { node: el("div", props, buttons), buttons };
}

export function drawHeads({ strip, store }) {
  strip?.buttons.forEach((node, h) => pressed(node, h === store.get("head")));
}
