// The drawing itself: the same strokes as schematic.py's, with texts that can be written anew.

import { el, onKeys, pressed, svg } from "../core/view/dom.js";
import { oneStop } from "../core/view/stop.js";
import { pieces } from "./maths.js";

/** @import { Part } from "../core/types.d.ts" */

/** A label as elements of the page. @type {(text: string) => any[]} */
export const label = (text) =>
  pieces(text).map(([part, level]) => (level ? el(level > 0 ? "sup" : "sub", {}, part) : part));

/** Write a label into a text of the drawing. */
function write(node, text, size) {
  if (node.said === text) return;
  node.said = text;
  let before = 0;
  node.replaceChildren(
    ...pieces(text).map(([part, level]) => {
      const base = [0.22, 0, -0.36][level + 1] * size;
      const span = svg("tspan", { dy: base - before || null }, part);
      if (level) span.style.fontSize = `${Math.max(10.8, 0.75 * size)}px`; // legible on a phone, too
      before = base;
      return span;
    }),
  );
}

/** A group of strokes; show(texts) writes its shape and its count anew. @type {(one: any) => Part} */
function group({ names, rect, lines, filled, texts }) {
  const written = texts.map(({ what, text, x, y, size, anchor }) => {
    const node = svg("text", { class: what, x, y, "text-anchor": anchor });
    node.style.fontSize = `${size}px`;
    write(node, text, size);
    return { node, what, size };
  });
  const [x, y, width, height, rx] = rect ?? [];
  const node = svg(
    "g",
    { class: names.join(" ") },
    rect && svg("rect", { x, y, width, height, rx }),
    lines && svg("path", { d: lines }),
    filled && svg("path", { class: "bold", d: filled }),
    written.map(({ node }) => node),
  );
  const show = (now) =>
    written.forEach(({ node, what, size }) => {
      if (now[what] !== undefined) write(node, now[what], size);
    });
  return { node, show };
}

/**
 * The whole drawing; a box is a button. show(shapes of arrows, texts of boxes, the open box).
 * @type {(picture: any, press: (at: number) => void) => Part}
 */
export function drawing({ width, height, alt, frames, arrows, boxes }, press) {
  const links = arrows.map(group);
  const parts = boxes.map((one, at) => {
    const part = group(one);
    if (one.kind !== "text") button(part.node, () => press(at));
    return part;
  });
  const all = [...frames.map(group), ...links, ...parts].map(({ node }) => node);
  const style = `--attnbook-wide: ${width}px; --attnbook-tall: ${height}`;
  const viewBox = `0 0 ${width} ${height}`;
  const node = svg("svg", { width, height, viewBox, style, role: "group", "aria-label": alt }, all);
  const buttons = parts.filter((_, at) => boxes[at].kind !== "text").map(({ node }) => node);
  if (buttons.length) oneStop(node, buttons, true);
  const show = (shapes, texts, opened) => {
    links.forEach((link, at) => link.show({ shape: shapes[at] }));
    parts.forEach((part, at) => {
      part.show(texts[at]);
      if (boxes[at].kind === "text") return;
      pressed(part.node, at === opened);
      part.node.setAttribute("aria-label", texts[at].said);
    });
  };
  return { node, show };
}

/** The same picture with a phone's places, strokes and sizes. */
export function onPhone(picture) {
  const left = [...picture.phone.groups];
  const moved = (all) =>
    all.map((one) => {
      const other = left.shift();
      return { ...one, ...other, texts: one.texts.map((text, at) => ({ ...text, ...other.texts[at] })) };
    });
  const [frames, arrows, boxes] = [picture.frames, picture.arrows, picture.boxes].map(moved);
  return { ...picture, ...picture.phone, frames, arrows, boxes };
}

function button(node, press) {
  node.setAttribute("role", "button");
  node.addEventListener("click", press);
  node.addEventListener(
    "keydown",
    onKeys(({ key }) => (key === "Enter" || key === " " ? press() : false)),
  );
}
