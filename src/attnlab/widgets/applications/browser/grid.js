// The small maps of all heads, layer by layer, with the measure as a strip under each.

import { times, within } from "../../core/maths/lists.js";
import { el, mark, onKeys, pressed, setText, setVar } from "../../core/view/dom.js";
import { KEYS } from "../../core/view/plot.js";
import { headName, valueText } from "./words.js";

const DEEP = 12; // of more layers, each is a column where there is room, not a row
const ROOMY = 560; // pixels

/** Whether layers are columns. @type {(layers: number, width: number) => boolean} */
export const isAcross = (layers, width) => layers > DEEP && width >= ROOMY;

/** A label of a layer or a head; the word before its number goes where there is little room. */
const label = (of, number) => el("span", { class: "of", "data-of": of }, number);

export function smallMaps(view) {
  const [layers, heads] = view.shape;
  const maps = view.all.map(({ canvas }, h) => {
    canvas.setAttribute("role", "button");
    canvas.dataset.head = h;
    return canvas;
  });
  const point = ({ target }) => {
    view.pointed = maps.includes(target) ? maps.indexOf(target) : null;
    view.redraw();
  };
  const leave = () => point({ target: null });
  const node = el(
    "div",
    {
      class: "every",
      role: "group",
      "aria-label": "all heads; arrow keys move from head to head, Enter makes one large",
      onclick: ({ target }) => maps.includes(target) && enlarge(view, maps.indexOf(target)),
      onkeydown: onKeys((event) => press(view, event, maps)),
      onfocusin: point,
      onfocusout: leave,
      onpointerover: point,
      onpointerleave: leave,
    },
    el("span"),
    times(heads, (h) => label("head", h)),
    times(layers, (l) => [label("layer", l), ...maps.slice(l * heads, (l + 1) * heads)]).flat(),
  );
  setVar(node, "heads", heads);
  setVar(node, "layers", layers);
  const show = () => {
    mark(node, "across", view.across);
    mark(node, "deep", layers > DEEP);
    maps.forEach((map, h) => {
      map.tabIndex = h === (view.reached ?? view.now.place) ? 0 : -1; // one stop for the tab key
      pressed(map, h === view.now.place);
      map.setAttribute("aria-label", `${headName(view, h)}: ${valueText(view, h)}`);
      setVar(map, "w", share(view, h));
    });
  };
  return { node, show };
}

/** A measure from 0 to 1. */
export const share = ({ now, tokens }, h) => (now.values[h] ?? 0) / (now.measure === "spread" ? tokens.length : 1);

export function enlarge(view, h) {
  const [, heads] = view.shape;
  view.reached = null;
  view.store.set({ layer: Math.floor(h / heads), head: h % heads });
}

function press(view, { key, target }, maps) {
  const [layers, heads] = view.shape;
  const h = maps.indexOf(target);
  if (key === "Enter" || key === " ") return enlarge(view, h);
  if (!KEYS[key] || h < 0) return false;
  const [layer, head] = [Math.floor(h / heads), h % heads];
  const { i, j } = KEYS[key](view.across ? { i: head, j: layer } : { i: layer, j: head });
  const [l, k] = view.across ? [j, i] : [i, j];
  view.reached = within(l, layers - 1) * heads + within(k, heads - 1);
  maps[view.reached].tabIndex = 0;
  return maps[view.reached].focus();
}

/** The five heads with most of it, each a button that makes it large. */
export function bestHeads(view) {
  const title = el("p");
  const list = el("ol");
  const show = ({ best, place }) => {
    best.forEach((h, at) => {
      const item =
        list.children[at] ??
        list.appendChild(
          el("li", {}, el("button", { type: "button", onclick: () => enlarge(view, view.now.best[at]) })),
        );
      setText(item.firstChild, `${headName(view, h)}: ${valueText(view, h)}`);
      pressed(item.firstChild, h === place);
    });
    while (list.children.length > best.length) list.lastChild.remove();
  };
  return { node: el("div", "best", title, list), title, show };
}
