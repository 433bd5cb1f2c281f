// Every layer and head of the attention that is drawn, as small maps, with a switch for each.

import { temperature } from "../core/view/controls.js";
import { alertLine, button, el } from "../core/view/dom.js";
import { switches } from "../parts/switches.js";

/**
 * The rows of weights of a layer that are shown, [row][head].
 * @type {(result: any, part: string, layer: number, count: number) => Float64Array[][]}
 */
export const rowsOf = ({ steps, seen }, part, layer, count) =>
  part === "encoder" ? seen[layer] : steps.slice(0, count).map(({ step }) => step[part][layer]);

/** Folded, and drawn only when it is open. @type {(view: any) => import("../core/types.d.ts").Part} */
export function overview(view) {
  const { store } = view;
  const { heads, layers } = store.get("sizes");
  const board = switches(store, {
    layers,
    heads,
    entry: (layer, head) => [store.get("part"), layer, head],
    said: (layer, head) => `layer ${layer}, head ${head}`,
  });
  const all = button("all of these off", () => {
    const rest = store.get("off").filter(([part]) => part !== store.get("part"));
    store.set({ off: [...rest, ...board.maps.map(({ entry }) => entry())] });
  });
  const none = button("every head on", () => store.set({ off: [] }));
  const alert = alertLine();
  const hot = temperature(store, alert.tell);
  const node = el(
    "details",
    { class: "all", ontoggle: () => view.redraw() },
    el("summary", {}, `All ${layers} × ${heads} heads at once, with a switch for each`),
    el("div", "controls", hot.node, all, none),
    alert.node,
    board.node,
  );
  const show = ({ part, count, result, full }) => {
    const nK = view.keyTokens.length;
    board.node.hidden = !view.tokens.length;
    if (!node.open || board.node.hidden) return;
    hot.show();
    none.disabled = !store.get("off").length;
    const fill = (weights, layer, head) =>
      rowsOf(result, part, layer, count).forEach((row, i) => weights.set(row[head], i * nK));
    board.show({ nQ: full, nK, may: view.may, ramp: view.ramp, fill });
  };
  return { node, show };
}
