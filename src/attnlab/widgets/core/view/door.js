// The door: mount a widget on a figure, from anywidget's model or from a static page's JSON.

import { el, inline, mark } from "./dom.js";
import { savable } from "./saving.js";
import { modelStore, plainStore, read } from "./store.js";

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
  if (!kind.asks) savable(view.node, store);
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

/** Bring the widget of one figure to life; one that fails keeps its fallback. */
function enliven(kinds, figure) {
  try {
    const state = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    const [store, kind] = [plainStore(state), kinds[state.kind]];
    mount(kinds, figure, store);
    // what a reader answers, the page may keep; it gives it back in the JSON, before this runs
    if (kind.asks) {
      const tell = () =>
        figure.dispatchEvent(new CustomEvent("attnbook:said", { bubbles: true, detail: read(store, kind.state) }));
      store.on(kind.state, tell);
    }
    figure.dataset.ready = "";
    // a widget with a table of its own needs the server's no longer; the others print it
    if (kind.drawsTable) figure.querySelector(".attnbook-fallback").remove();
  } catch (error) {
    figure.querySelector(".attnbook-live")?.remove();
    console.error(error);
  }
}

/**
 * Bring every widget of a static page to life: those in sight at once, the others when they come
 * near, when the browser has nothing else to do, or for the print.
 * @type {(kinds: Record<string, Kind>, page: ParentNode) => void}
 */
function hydrate(kinds, page) {
  /** @type {Set<HTMLElement>} */
  const waiting = new Set(page.querySelectorAll("figure.attnbook:not([data-ready])"));
  const build = (figure) => waiting.delete(figure) && enliven(kinds, figure); // once
  // a link into the page leads to a place below all that is built later
  const target = document.getElementById(location.hash.slice(1));
  const above = (figure) => target && figure.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING;
  const seen = [...waiting].filter((figure) => above(figure) || inSight(figure));
  seen.forEach(build);
  const near = new IntersectionObserver(
    (entries) => entries.filter((one) => one.isIntersecting).forEach(({ target: one }) => build(one)),
    { rootMargin: "100% 0px" },
  );
  waiting.forEach((figure) => near.observe(figure));
  const whenIdle = globalThis.requestIdleCallback ?? ((call) => setTimeout(call, 50));
  const buildOne = () => {
    const [next] = waiting;
    build(next);
    if (waiting.size) whenIdle(buildOne);
    else near.disconnect();
  };
  whenIdle(buildOne);
  addEventListener("beforeprint", () => waiting.forEach(build));
}

/** @type {(node: HTMLElement) => boolean} */
function inSight(node) {
  const { top, bottom } = node.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
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
