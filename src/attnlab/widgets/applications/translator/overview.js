// Every layer and head of the attention that is drawn, as small maps, with a switch for each.

import { temperature } from "../../core/view/controls.js";
import { alertLine, button, el } from "../../core/view/dom.js";
import { switches } from "../../parts/switches.js";

/**
 * The rows of weights of a layer that are shown, [row][head].
 * @type {(result: any, part: string, layer: number, count: number) => Float64Array[][]}
 */
export const rowsOf = ({ steps, seen }, part, layer, count) =>
  part === "encoder" ? seen[layer] : steps.slice(0, count).map(({ step }) => step[part][layer]);

/** Folded, and drawn only when it is open. @type {(view: any) => import("../../core/types.d.ts").Part} */
export function overview(view) {
  const { store } = view;
  const { heads, layers } = store.get("sizes");
  const all = switches(view, () => [store.get("part")]);
  const off = button("all of these off", () => {
    const rest = store.get("off").filter(([one]) => one !== store.get("part"));
    store.set({ off: [...rest, ...all.maps.map(({ name }) => name())] });
  });
  const none = button("every head on", () => store.set({ off: [] }));
  const alert = alertLine();
  const hot = temperature(store, alert.tell);
  const node = el(
    "details",
    { class: "all", ontoggle: () => view.redraw() },
    el("summary", {}, `All ${layers} × ${heads} heads at once, with a switch for each`),
    el("div", "controls", hot.node, off, none),
    alert.node,
    all.node,
  );
  const show = ({ part, count, result, full }) => {
    const nK = view.keyTokens.length;
    all.node.hidden = !view.tokens.length;
    if (!node.open || all.node.hidden) return;
    hot.show();
    none.disabled = !store.get("off").length;
    all.show(full, nK, (weights, layer, head) =>
      rowsOf(result, part, layer, count).forEach((row, i) => weights.set(row[head], i * nK)),
    );
  };
  return { node, show };
}
