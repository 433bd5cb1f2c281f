// What the kinds that ask something share: sources in a reason, what is said, and that it is done.

import { el, inline } from "./dom.js";

const LINK = /\[([^[\]]+)\]\((https:\/\/[^\s()<>"]+)\)/;

/**
 * Text in which `backticks` mark code and [words](https://…) a source: text, <code> and <a>.
 * @type {(text: string) => any[]}
 */
export const cited = (text) =>
  text.split(LINK).flatMap((part, place, all) => {
    if (place % 3 === 2) return [];
    return place % 3 ? [el("a", { href: all[place + 1], rel: "noopener" }, inline(part))] : inline(part);
  });

/** The same as it is read aloud. @type {(text: string) => string} */
export const spoken = (text) =>
  cited(text)
    .map((part) => part.textContent ?? part)
    .join("");

/** What stands in the page already, for a screen reader's status line alone. @type {() => any} */
export const unseen = () => el("span", "unseen");

/** Tell the page around a view that its question is done; it may keep that. @type {(node: Element) => void} */
export const done = (node) => {
  node.dispatchEvent(new CustomEvent("attnbook:done", { bubbles: true }));
};
