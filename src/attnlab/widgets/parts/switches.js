// Every layer and head as a small map: a press makes it large, and a switch takes away what the head
// adds. Which are off is in the trait `off`.

import { times } from "../core/maths/lists.js";
import { button, el, pressed, setVar, tick } from "../core/view/dom.js";
import { makeHead, paint } from "../core/view/frame.js";

/**
 * The trait holds of each head what `before` says, then its layer and its number.
 * @type {(view: any, before: () => any[]) => any}
 */
export function switches(view, before) {
  const { store } = view;
  const { heads, layers } = store.get("sizes");
  const maps = times(layers * heads, (at) => {
    const [layer, head] = [Math.floor(at / heads), at % heads];
    const said = `layer ${layer}, head ${head}`;
    const press = button("", () => store.set({ layer, head }), { class: "map", "aria-label": said });
    const name = () => [...before(), layer, head];
    const on = tick(said, (now) => {
      const rest = store.get("off").filter((one) => `${one}` !== `${name()}`);
      store.set({ off: now ? rest : [...rest, name()] });
    });
    const stand = () => on.show(!store.get("off").some((one) => `${one}` === `${name()}`));
    stand(); // a hand may be quicker than the first drawing
    return { layer, head, press, on, stand, name, map: null };
  });
  const node = el(
    "div",
    "grid",
    maps.map(({ press, on }) => el("div", {}, press, on.node)),
  );
  setVar(node, "heads", heads);
  /** Paint all n_q × n_k maps; `fill` writes a head's weights. */
  const show = (nQ, nK, fill) => {
    setVar(node, "shape", `${nK} / ${nQ}`);
    for (const one of maps) {
      const { layer, head, press } = one;
      if (one.map?.nQ !== nQ || one.map.nK !== nK) {
        one.map = makeHead(null, nQ, nK);
        press.replaceChildren(one.map.canvas);
      }
      one.map.weights.fill(0);
      fill(one.map.weights, layer, head);
      paint(one.map, view.may, view.ramp);
      pressed(press, store.get("layer") === layer && store.get("head") === head);
      one.stand();
    }
  };
  return { node, maps, show };
}
