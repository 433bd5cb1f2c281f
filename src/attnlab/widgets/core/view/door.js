// The door: mount a widget on a figure, from anywidget's model or from a static page's JSON.

import { el, inline, mark } from "./dom.js";
import { modelStore, plainStore } from "./store.js";

/** @import { Kind, Store } from "../types.d.ts" */

/**
 * What these kinds of widget offer to a page and to anywidget.
 * @param {Record<string, Kind>} kinds
 * @returns {{mount: (figure: HTMLElement, store: Store) => () => void, hydrate: (page: ParentNode) => void, render: (context: {model: any, el: HTMLElement}) => () => void}}
 */
export const open = (kinds) => ({
  mount: (figure, store) => mount(kinds, figure, store),
  hydrate: (page) => hydrate(kinds, page),
  render: (context) => render(kinds, context),
});

/**
 * Put a live widget into the figure; returns what takes it out again.
 * @type {(kinds: Record<string, Kind>, figure: HTMLElement, store: Store) => () => void}
 */
function mount(kinds, figure, store) {
  const kind = kinds[store.get("kind")];
  if (!kind) throw new Error(`attnbook: there is no widget "${store.get("kind")}"`);
  let stop = show(figure, store, kind);
  const forget = store.on(kind.data, () => {
    stop();
    stop = show(figure, store, kind);
  });
  return () => {
    forget();
    stop();
  };
}

/** A figure is called what its caption says, else its question, else its kind. @type {(figure: HTMLElement, kind: Kind) => void} */
function label(figure, kind) {
  const text = figure.querySelector("legend")?.textContent ?? kind.name ?? "A live picture";
  if (figure.querySelector("figcaption")) figure.removeAttribute("aria-label");
  else figure.setAttribute("aria-label", text);
}

/** @type {(figure: HTMLElement, store: Store, kind: Kind) => () => void} */
function show(figure, store, kind) {
  const view = kind.build(store);
  mark(view.node, "live");
  figure.prepend(view.node);
  const detach = view.attach?.(figure);
  const forget = store.on(kind.state, view.draw);
  const unprint = forPrint(view.node);
  view.draw();
  label(figure, kind);
  return () => {
    forget();
    unprint();
    detach?.();
    view.node.remove();
  };
}

/** On paper nothing can be unfolded: a table that is folded up is opened for the print. */
function forPrint(node) {
  const media = matchMedia("print");
  const opened = [];
  const change = () => {
    if (media.matches) {
      for (const twin of node.querySelectorAll("details.attnbook-twin:not([open])")) {
        twin.open = true;
        twin.dispatchEvent(new Event("toggle")); // the browser's own comes too late for the print
        opened.push(twin);
      }
    } else
      opened.splice(0).forEach((twin) => {
        twin.open = false;
      });
  };
  media.addEventListener("change", change);
  return () => media.removeEventListener("change", change);
}

/**
 * Bring every widget of a static page to life; one that fails keeps its fallback.
 * @type {(kinds: Record<string, Kind>, page: ParentNode) => void}
 */
function hydrate(kinds, page) {
  for (const one of page.querySelectorAll("figure.attnbook:not([data-ready])")) {
    const figure = /** @type {HTMLElement} */ (one);
    try {
      const script = figure.querySelector('script[type="application/json"]');
      const state = JSON.parse(script.textContent);
      mount(kinds, figure, plainStore(state));
      figure.dataset.ready = "";
      // a widget with a table of its own needs the server's no longer; the others print it
      if (kinds[state.kind].drawsTable) figure.querySelector(".attnbook-fallback").remove();
    } catch (error) {
      figure.querySelector(".attnbook-live")?.remove();
      console.error(error);
    }
  }
}

/**
 * anywidget's entry: one view of one model.
 * @type {(kinds: Record<string, Kind>, context: {model: any, el: HTMLElement}) => () => void}
 */
function render(kinds, { model, el: place }) {
  const store = modelStore(model);
  const figure = el("figure", {
    class: store.get("kind"),
    // else JupyterLab takes Enter and the arrows for itself; it looks at the focused element alone
    onfocusin: ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true"),
  });
  figure.classList.add("attnbook");
  const caption = el("figcaption");
  const tell = () => {
    caption.replaceChildren(...inline(store.get("caption")));
    if (store.get("caption")) figure.append(caption);
    else caption.remove();
    label(figure, kinds[store.get("kind")]);
  };
  place.append(figure);
  const stop = mount(kinds, figure, store);
  tell();
  const forget = store.on(["caption"], tell);
  figure.dataset.ready = "";
  return () => {
    forget();
    stop();
    figure.remove();
  };
}
