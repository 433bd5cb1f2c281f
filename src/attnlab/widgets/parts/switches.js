// Every layer and head as a small map: a press makes it large, and a switch takes away what the head
// adds. Which are off is in the trait `off`.

import { times } from "../core/maths/lists.js";
import { button, el, pressed, setVar, tick } from "../core/view/dom.js";
import { makeHead, paint } from "../core/view/frame.js";

const same = (one, other) => one.every((value, at) => value === other[at]);

/**
 * `entry` says what the trait `off` holds for a head, `said` its name, `short` what stands on its switch.
 * @param {any} store
 * @param {{layers: number, heads: number, entry: (layer: number, head: number) => any[], said: (layer: number, head: number) => string, short?: (layer: number, head: number) => string}} how
 * @returns {any}
 */
export function switches(store, { layers, heads, entry, said, short = said }) {
  const maps = times(layers * heads, (at) => {
    const [layer, head] = [Math.floor(at / heads), at % heads];
    const press = button("", () => store.set({ layer, head }), { class: "map", "aria-label": said(layer, head) });
    const flip = (now) => {
      const rest = store.get("off").filter((one) => !same(one, entry(layer, head)));
      store.set({ off: now ? rest : [...rest, entry(layer, head)] });
    };
    const on = tick(short(layer, head), flip);
    const isOff = () => store.get("off").some((one) => same(one, entry(layer, head)));
    return {
      layer,
      head,
      press,
      on,
      isOff,
      flip,
      entry: () => entry(layer, head),
      node: el("div", {}, press, on.node),
      map: null,
    };
  });
  const node = el(
    "div",
    { class: "grid", role: "group", "aria-label": "all heads" },
    maps.map((one) => one.node),
  );
  setVar(node, "heads", heads);
  /** Paint all n_q × n_k maps; `fill` writes a head's weights. */
  const show = ({ nQ, nK, may, ramp, fill }) => {
    setVar(node, "shape", `${nK} / ${nQ}`);
    for (const one of maps) {
      if (one.map?.nQ !== nQ || one.map.nK !== nK) {
        one.map = makeHead(null, nQ, nK);
        one.press.replaceChildren(one.map.canvas);
      }
      one.map.weights.fill(0);
      fill(one.map.weights, one.layer, one.head);
      paint(one.map, may, ramp);
      pressed(one.press, store.get("layer") === one.layer && store.get("head") === one.head);
      one.on.show(!one.isOff());
    }
  };
  return { node, maps, show };
}
