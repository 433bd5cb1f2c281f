// What the picture says in words.

import { fixed } from "../core/view/text.js";

/** A token with its space and its end of line as signs. @type {(token: string) => string} */
export const shown = (token) => token.replaceAll(" ", "␣").replaceAll("\n", "↵");

export const counted = (count) => (count === 1 ? "1 example" : `${count || "no"} examples`);

/** What is written, or a word for nothing. */
export const written = (said) => (said ? `“${said}”` : "nothing");

export function said({ task, word, count, exchanged, found, rights }) {
  const [asked, answer] = task.asked[word];
  const [token, p] = found[word].top[0];
  const ending = rights[word] ? ", which is right." : `; “${answer}” would be right.`;
  const none = exchanged && count < 2 ? " There is nothing to exchange yet." : "";
  return (
    `After ${counted(count)}, “${asked} ->” goes on most probably with ${shown(token)}, ${fixed(p, 2)}. ` +
    `The model writes ${written(found[word].said)}${ending}${none}`
  );
}

export const scored = ({ rights }) =>
  `Right for ${rights.filter(Boolean).length} of these ${rights.length} words. Press one to ask it.`;

export const cells = ({ task, found, rights }) => [
  ["word", "wanted", "written", "right"],
  ...task.asked.map(([asked, answer], at) => [asked, answer, found[at].said, rights[at] ? "yes" : "no"]),
];
