// Every layer and head of the attention that is drawn, as small maps; a press makes one large.

import { times } from "../core/maths/lists.js";
import { button, el, pressed, setVar } from "../core/view/dom.js";
import { makeHead, paint } from "../core/view/frame.js";

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
  const maps = times(layers * heads, (at) => {
    const [layer, head] = [Math.floor(at / heads), at % heads];
    const press = button("", () => store.set({ layer, head }), {
      class: "map",
      "aria-label": `layer ${layer}, head ${head}`,
    });
    return {
      layer,
      head,
      press,
      node: el("div", {}, press, el("small", {}, `layer ${layer}, head ${head}`)),
      map: null,
    };
  });
  const grid = el(
    "div",
    { class: "grid", role: "group", "aria-label": "all heads" },
    maps.map(({ node }) => node),
  );
  setVar(grid, "heads", heads);
  const node = el(
    "details",
    { class: "all", ontoggle: () => view.redraw() },
    el("summary", {}, `All ${layers} × ${heads} heads at once`),
    grid,
  );
  const show = ({ part, count, result, full }) => {
    const nK = view.keyTokens.length;
    grid.hidden = !view.tokens.length;
    if (!node.open || grid.hidden) return;
    setVar(grid, "shape", `${nK} / ${full}`);
    for (const one of maps) {
      if (one.map?.nQ !== full || one.map.nK !== nK) {
        one.map = makeHead(null, full, nK);
        one.press.replaceChildren(one.map.canvas);
      }
      one.map.weights.fill(0);
      const rows = rowsOf(result, part, one.layer, count);
      rows.forEach((row, i) => one.map.weights.set(row[one.head], i * nK));
      paint(one.map, view.may, view.ramp);
      pressed(one.press, store.get("layer") === one.layer && store.get("head") === one.head);
    }
  };
  return { node, show };
}
