// Building the page out of elements and text. A reader's or a model's text is only ever a text
// node, so it can never become markup.

import { replaced } from "../maths/lists.js";
import { asked, retold, understood, wantedOf, written } from "../maths/number.js";

/** @import { Part, Store } from "../types.d.ts" */

const PREFIX = "attnbook-";

/**
 * An element. Of its props, on… are listeners, true/false/null set or leave out, the rest are
 * attributes; a class is named without its prefix, and a text instead of props is a class.
 * @param {string} tag
 * @param {any} [props]
 * @param {...any} children
 * @returns {any}
 */
export function el(tag, props = {}, ...children) {
  return made(document.createElement(tag), props, children);
}

/**
 * An element of a drawing.
 * @param {string} tag
 * @param {any} [props]
 * @param {...any} children
 * @returns {any}
 */
export function svg(tag, props, ...children) {
  return made(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

function made(node, props, children) {
  const named = typeof props === "string" ? { class: props } : props;
  for (const [name, value] of Object.entries(named)) setProp(node, name, value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function setProp(node, name, value) {
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (name === "class" && value) value.split(" ").forEach((one) => mark(node, one));
  else if (value === true) node.setAttribute(name, "");
  else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
}

/** Give a node a class, or take it away. @type {(node: Element, name: string, on?: boolean) => void} */
export const mark = (node, name, on = true) => node.classList.toggle(PREFIX + name, on);

/** @type {(node: any, name: string, value: any) => void} */
export const setVar = (node, name, value) => node.style.setProperty(`--${name}`, value);

/**
 * @param {...any} children
 * @returns {any}
 */
export const note = (...children) => el("p", "note", ...children);
/** @type {() => any} */
export const statusLine = () => el("p", { class: "status", role: "status" });

/**
 * Where the reader is told what cannot be used, by tell(message), and how something was read, by
 * tell(message, true); either takes the place of the other.
 * @returns {{node: any, tell: (message: string, calm?: boolean) => void, told: () => string}}
 */
export function alertLine() {
  const error = el("p", { class: "error", role: "alert" });
  // no role of a status: that is the line which says what the picture shows
  const calm = el("p", { class: "calm", "aria-live": "polite" });
  const tell = (message, calmly = false) => {
    setText(error, calmly ? "" : message);
    setText(calm, calmly ? message : "");
  };
  return { node: [error, calm], tell, told: () => error.textContent };
}

/** Text in which `backticks` mark code: a list of text and <code> elements. @type {(text: string) => any[]} */
export function inline(text) {
  return text.split(/`([^`]+)`/).map((part, place) => (place % 2 ? el("code", {}, part) : part));
}

/**
 * Write text only where it changed, so that a screen reader is not told it twice.
 * @type {(node: Node, text: string) => void}
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** @type {(text: string, press: (event: any) => any, props?: any) => any} */
export function button(text, press, props = {}) {
  return el("button", { type: "button", onclick: press, ...props }, text);
}

/** @type {(node: Element, on: any) => void} */
export const pressed = (node, on) => node.setAttribute("aria-pressed", on);

/**
 * A checkbox with its label; returns the label and a function that shows a state.
 * @type {(text: string, flip: (on: boolean) => any) => Part}
 */
export function tick(text, flip) {
  const box = el("input", { type: "checkbox", onchange: () => flip(box.checked) });
  const label = el("label", "tick", box, el("span", {}, text));
  return {
    node: label,
    show: (on) => {
      box.checked = on;
    },
  };
}

/**
 * A list of choices with its label; shows the one at a place.
 * @type {(label: string, names: string[], pick: (place: number) => any) => Part}
 */
export function choice(label, names, pick) {
  const box = el(
    "select",
    { onchange: () => pick(box.selectedIndex) },
    names.map((name) => el("option", {}, name)),
  );
  const node = el("label", "choose", el("span", {}, label), box);
  return {
    node,
    show: (place) => {
      box.selectedIndex = place;
    },
  };
}

/** Take back all that was marked as typed wrong. @type {(node: Element) => void} */
export const forgive = (node) =>
  node.querySelectorAll("[aria-invalid]").forEach((box) => box.removeAttribute("aria-invalid"));

/**
 * The button that puts back what was there first, and forgets what was typed wrong; `also` is to
 * be done before. The view has store, node, draw and alert.
 * @type {(view: any, what: string, also?: () => void, kept?: () => any) => any}
 */
export const reset = (view, what, also = () => {}, kept = () => ({})) =>
  button(
    "reset",
    () => {
      also();
      forgive(view.node);
      view.alert.tell("");
      view.store.set({ ...structuredClone(view.store.get("initial")), ...kept() });
      view.draw(); // the very numbers that are there still have to come back into the boxes
    },
    { class: "reset", "aria-label": `reset to the first ${what}` },
  );

/** What is seldom wanted, folded up under the controls that move the picture. @type {(...parts: any[]) => any} */
export const settingsFold = (...parts) =>
  el("details", "settings", el("summary", {}, "settings"), el("div", "controls", ...parts));

/** Several parts that are shown together. @type {(node: any, parts: Part[]) => Part} */
export const together = (node, parts) => ({ node, show: (now) => parts.forEach((part) => part.show(now)) });

/** @type {(parts: {node?: any}[]) => any[]} */
export const nodes = (parts) => parts.map(({ node }) => node);

/** A bar of a share from 0 to 1. @type {() => Part} */
export function bar() {
  const fill = el("span");
  const show = (share) => {
    fill.style.width = `${100 * share}%`;
  };
  return { node: el("span", "bar", fill), show };
}

/**
 * A listener for keys; `act` says false of an event that it has no use for.
 * @type {(act: (event: any) => any) => (event: any) => void}
 */
export const onKeys = (act) => (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || act(event) === false) return;
  event.preventDefault();
  event.stopPropagation(); // JupyterLab would take Enter and the arrows for its cells
};

/** A box that takes a number, as text. @type {(props: any) => any} */
export const decimal = (props) =>
  el("input", { type: "text", inputmode: "decimal", autocomplete: "off", onpaste: pasted, ...props });

/** A browser drops the ends of lines, so that two numbers of a table would become one. */
function pasted(event) {
  const text = event.clipboardData.getData("text").trim();
  const box = event.target;
  if (box.readOnly || !/[\t\r\n]/.test(text)) return;
  event.preventDefault();
  box.setRangeText(text.replace(/[\t\r\n]+/g, " ↵ "), box.selectionStart, box.selectionEnd, "end");
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Two numbers that are the same but for what a logarithm loses. @type {(one: number, other: number) => boolean} */
export const nearly = (one, other) => Math.abs(one - other) <= 1e-7 * Math.abs(other);

/**
 * A box for one number, read by core/maths/number.js. What cannot be used is marked and said, and
 * stays in the box until it is mended; the picture goes back to what it showed before. What lies
 * from `least` to `most` can be used, and what `usable` says, too. The up and down arrows change it
 * by `step`.
 * @param {{label: string, most: number, least?: number, whole?: boolean, thousands?: boolean, change: (value: number) => any, tell: (message: string, calm?: boolean) => void, step?: number, wanted?: string, usable?: (value: number) => boolean}} how
 * @returns {Part}
 */
export function numberBox({
  label,
  most,
  least = -most,
  whole = false,
  thousands = whole,
  change,
  tell,
  step = 1,
  wanted = wantedOf({ whole, thousands, lowest: least, highest: most }),
  usable = () => true,
}) {
  const takes = { whole, thousands, lowest: least, highest: most };
  let now = { value: NaN, text: "" }; // what the picture shows
  let before = now; // and what it showed before the reader began to type
  const bad = () => box.hasAttribute("aria-invalid");
  const read = () => {
    const found = understood(box.value, takes);
    return found.value === undefined || usable(found.value) ? found : { why: "" };
  };
  const accept = (value) => {
    box.removeAttribute("aria-invalid");
    tell("");
    now = { value, text: written(value, takes) };
    change(value);
  };
  /** @type {(found: {why?: string, ask?: number[]}) => void} */
  const refuse = ({ why, ask }) => {
    box.setAttribute("aria-invalid", "true");
    const back = now !== before;
    now = before;
    if (back) change(now.value);
    const clauses = ask ? [asked(box.value, ask)] : [why, `${wanted} is wanted`];
    tell(`${label}: ${[...clauses, `${now.text} is kept`].filter(Boolean).join("; ")}.`);
  };
  const take = () => {
    const found = read();
    if (found.value === undefined) refuse(found);
    else accept(found.value);
  };
  /** What was typed is done: it is written as it was understood. */
  const settle = () => {
    if (bad() && box.value.trim()) return;
    if (bad()) tell("");
    box.removeAttribute("aria-invalid");
    before = now;
    if (box.value === now.text) return;
    const told = box.value.trim() && retold(box.value, now.value, takes);
    if (told) tell(told, true);
    box.value = now.text;
  };
  const box = decimal({
    "aria-label": label,
    oninput: take,
    onchange: settle, // by Enter
    onblur: settle,
    onfocus: () => bad() && take(), // another box may have had its say since
    onkeydown(event) {
      const by = { ArrowUp: step, ArrowDown: -step }[event.key];
      const value = Number(((read().value ?? NaN) + by).toPrecision(12));
      if (!by || !(value >= least && value <= most && usable(value))) return;
      event.preventDefault();
      accept(value);
      before = now;
      box.value = now.text;
    },
  });
  const show = (value, text = written(value, takes)) => {
    if (!nearly(value, now.value)) {
      if (bad()) tell("");
      box.removeAttribute("aria-invalid");
      now = before = { value, text };
    }
    if (!bad() && !nearly(read().value ?? NaN, value)) box.value = now.text;
  };
  return { node: box, show };
}

/**
 * A box that scrolls sideways by itself, and that listens to keys: a stop of the Tab key.
 * @param {string} label
 * @param {...any} children
 * @returns {any}
 */
export const keyed = (label, ...children) =>
  el("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": label }, ...children);

/**
 * A box that scrolls sideways by itself: a stop of the Tab key where it is narrower than what it holds.
 * @param {string} label
 * @param {...any} children
 * @returns {any}
 */
export function scroller(label, ...children) {
  const node = keyed(label, ...children);
  // in the next frame: the sign that a stop has makes the box higher, of which WebKit would complain
  const watch = new ResizeObserver(() => {
    requestAnimationFrame(() => {
      node.tabIndex = node.scrollWidth > node.clientWidth ? 0 : -1;
    });
  });
  for (const one of [node, ...node.children]) watch.observe(one);
  return node;
}

/**
 * A table; rows are lists of strings or nodes, the first of each row is its heading.
 * @type {(head: any[], rows: any[][]) => any}
 */
export function table(head, rows) {
  return grid(
    head.map((cell) => el("th", { scope: "col" }, cell)),
    rows.map(([first, ...rest]) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, first),
        rest.map((cell) => el("td", {}, cell)),
      ),
    ),
  );
}

/**
 * A table of ready cells in its head, and of ready rows.
 * @param {any[]} head
 * @param {any[]} rows
 * @param {...any} foot
 * @returns {any}
 */
export const grid = (head, rows, ...foot) =>
  el("table", {}, el("thead", {}, el("tr", {}, head.flat())), el("tbody", {}, rows), ...foot);

/**
 * A table folded up under a picture: made when it is first opened, kept up to date while open.
 * rows() gives its texts, the head's first.
 * @type {(label: string, rows: () => string[][], summary?: string) => Part}
 */
export function twin(label, rows, summary = "the same as a table") {
  const place = scroller(label);
  let [drawn, ready] = [null, false]; // ready: the picture is drawn, so there is something to say
  const node = el("details", { class: "twin", ontoggle: () => ready && show() }, el("summary", {}, summary), place);
  const show = () => {
    ready = true;
    if (!node.open || node.hidden) return;
    const texts = rows();
    const fits = drawn?.rows.length === texts.length && drawn.rows[0].cells.length === texts[0].length;
    if (fits) {
      texts.forEach((row, r) => row.forEach((text, c) => setText(drawn.rows[r].cells[c], text)));
      return;
    }
    drawn = table(texts[0], texts.slice(1));
    place.replaceChildren(drawn);
  };
  return { node, show };
}

/**
 * A copy of the rows of a trait, with another number at (r, c), for the store.
 * @type {(store: Store, name: string, r: number, c: number, value: any) => Record<string, any>}
 */
export const changed = (store, name, r, c, value) => ({
  [name]: replaced(store.get(name), r, replaced(store.get(name)[r], c, value)),
});

/**
 * Run draw once before the next frame, however often it is asked for; `now` waits for none.
 * @type {(draw: () => void) => (() => void) & {cancel: () => void, now: () => void}}
 */
export function soon(draw) {
  let asked = 0;
  const ask = () => {
    asked ||= requestAnimationFrame(ask.now);
  };
  ask.cancel = () => {
    cancelAnimationFrame(asked);
    asked = 0;
  };
  ask.now = () => {
    ask.cancel();
    draw();
  };
  return ask;
}
