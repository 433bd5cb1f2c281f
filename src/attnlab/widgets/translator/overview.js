// Every layer and head of the attention that is drawn, as small maps: a press makes one large, and a
// switch takes away what the head adds.

import { times } from "../core/maths/lists.js";
import { temperature } from "../core/view/controls.js";
import { alertLine, button, el, pressed, setVar, tick } from "../core/view/dom.js";
import { makeHead, paint } from "../core/view/frame.js";

/**
 * The rows of weights of a layer that are shown, [row][head].
 * @type {(result: any, part: string, layer: number, count: number) => Float64Array[][]}
 */
export const rowsOf = ({ steps, seen }, part, layer, count) =>
  part === "encoder" ? seen[layer] : steps.slice(0, count).map(({ step }) => step[part][layer]);

const same = (one, other) => one.every((value, at) => value === other[at]);

/** Folded, and drawn only when it is open. @type {(view: any) => import("../core/types.d.ts").Part} */
export function overview(view) {
  const { store } = view;
  const { heads, layers } = store.get("sizes");
  const maps = times(layers * heads, (at) => {
    const [layer, head] = [Math.floor(at / heads), at % heads];
    const said = `layer ${layer}, head ${head}`;
    const press = button("", () => store.set({ layer, head }), { class: "map", "aria-label": said });
    const name = () => [store.get("part"), layer, head];
    const on = tick(said, (now) => {
      const rest = store.get("off").filter((one) => !same(one, name()));
      store.set({ off: now ? rest : [...rest, name()] });
    });
    return { layer, head, press, on, name, node: el("div", {}, press, on.node), map: null };
  });
  const all = button("all of these off", () => {
    const rest = store.get("off").filter(([part]) => part !== store.get("part"));
    store.set({ off: [...rest, ...maps.map(({ name }) => name())] });
  });
  const none = button("every head on", () => store.set({ off: [] }));
  const alert = alertLine();
  const hot = temperature(store, alert.tell);
  const grid = el(
    "div",
    { class: "grid", role: "group", "aria-label": "all heads" },
    maps.map(({ node }) => node),
  );
  setVar(grid, "heads", heads);
  const node = el(
    "details",
    { class: "all", ontoggle: () => view.redraw() },
    el("summary", {}, `All ${layers} × ${heads} heads at once, with a switch for each`),
    el("div", "controls", hot.node, all, none),
    alert.node,
    grid,
  );
  const show = ({ part, count, result, full }) => {
    const nK = view.keyTokens.length;
    grid.hidden = !view.tokens.length;
    if (!node.open || grid.hidden) return;
    hot.show();
    none.disabled = !store.get("off").length;
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
      one.on.show(!store.get("off").some((other) => same(other, one.name())));
    }
  };
  return { node, show };
}
