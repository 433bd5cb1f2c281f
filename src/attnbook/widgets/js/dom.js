// Building the page out of elements and text. A reader's or a model's text is only ever a text
// node, so it can never become markup.

import { typed } from "./text.js";

/** An element: on… props are listeners, true/false/null set or leave out, the rest attributes. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) setProp(node, name, value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function setProp(node, name, value) {
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (value === true) node.setAttribute(name, "");
  else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
}

/** Text in which `backticks` mark code: a list of text and <code> elements. */
export function inline(text) {
  return text.split(/`([^`]+)`/).map((part, place) => (place % 2 ? el("code", {}, part) : part));
}

/** Write text only where it changed, so that a screen reader is not told it twice. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function button(text, press, props = {}) {
  return el("button", { type: "button", onclick: press, ...props }, text);
}

/** A checkbox with its label; returns the label and a function that shows a state. */
export function tick(text, flip) {
  const box = el("input", { type: "checkbox", onchange: () => flip(box.checked) });
  const label = el("label", { class: "attnbook-tick" }, box, el("span", {}, text));
  return { node: label, show: (on) => { box.checked = on; } };
}

/**
 * A box for one number. What cannot be used is marked and said, the last good number stays, and
 * comes back into the box when the reader leaves it. The up and down arrows change it by `step`.
 */
export function numberBox({ label, wanted, usable, change, tell, step = 1 }) {
  let kept = "";
  const bad = () => box.hasAttribute("aria-invalid");
  const accept = (value) => {
    box.removeAttribute("aria-invalid");
    tell("");
    change(value);
  };
  const box = el("input", {
    type: "text", inputmode: "decimal", "aria-label": label, autocomplete: "off",
    oninput() {
      const value = typed(box.value);
      if (usable(value)) return accept(value);
      box.setAttribute("aria-invalid", "true");
      return tell(`${label}: ${wanted} is wanted; ${kept} is kept.`);
    },
    onkeydown(event) {
      const change = { ArrowUp: step, ArrowDown: -step }[event.key];
      const value = Number((typed(box.value) + change).toPrecision(12));
      if (!change || !usable(value)) return;
      event.preventDefault();
      box.value = value;
      accept(value);
    },
    onblur() {
      if (bad()) box.value = kept;
      box.removeAttribute("aria-invalid");
    },
  });
  const show = (value, text) => {
    kept = text;
    if (!bad() && typed(box.value) !== value) box.value = text;
  };
  return { node: box, show };
}

/** A box that scrolls sideways by itself, reachable by keyboard. */
export const scroller = (label, ...children) =>
  el("div", { class: "attnbook-scroll", role: "group", tabindex: "0", "aria-label": label },
    ...children);

/** A table; rows are lists of strings or nodes, the first of each row is its heading. */
export function table(head, rows) {
  const top = el("tr", {}, head.map((cell) => el("th", { scope: "col" }, cell)));
  const body = rows.map(([first, ...rest]) =>
    el("tr", {}, el("th", { scope: "row" }, first), rest.map((cell) => el("td", {}, cell))));
  return el("table", {}, el("thead", {}, top), el("tbody", {}, body));
}

/** Run draw once before the next frame, however often it is asked for. */
export function soon(draw) {
  let asked = 0;
  const ask = () => {
    if (!asked) asked = requestAnimationFrame(() => { asked = 0; draw(); });
  };
  ask.cancel = () => cancelAnimationFrame(asked);
  return ask;
}
