// The lens in words and in tables.

import { fixed, listed, quoted } from "../core/view/text.js";
import { added, at, last, rising } from "./maths.js";

/** A token that shows its spaces and ends of lines. */
export const shown = (text) => text.replaceAll("\n", "↵").replaceAll(" ", "␣");

/** The prompts as names of choices. */
export const names = (prompts) => prompts.map(({ tokens }) => tokens.join("").replaceAll("\n", " ↵ "));

/** Where one is: step 0 are the embeddings, step k is after layer k − 1. */
export const stage = (step) => (step ? `After layer ${step - 1}` : "Embeddings");

/** What is said so far of the pressed token, and what the present layer adds. */
export function said({ one, step, token: place, final }) {
  const found = at(one, step, place).map(({ name, chance }) => `${quoted(shown(name))} ${fixed(chance, 2)}`);
  const first = `${stage(step)}, after ${quoted(shown(one.tokens[place]))}: ${listed(found)}.`;
  if (!step) return first;
  const [attention, forward] = added(one, place)[step - 1];
  return `${first} Adds to ${quoted(shown(final))}: attention ${fixed(attention, 1)}, feed-forward ${fixed(forward, 1)}.`;
}

/** Layer by layer. */
export function cells({ one, token: place }) {
  const word = shown(last(one, place));
  const adds = added(one, place);
  return [
    ["step", "says", "probability", quoted(word), "attention", "feed-forward"],
    ...rising(one, place).map((chance, step) => {
      const [first] = at(one, step, place);
      const [attention, forward] = step ? adds[step - 1].map((value) => fixed(value, 1)) : ["–", "–"];
      return [stage(step), shown(first.name), fixed(first.chance, 2), fixed(chance, 2), attention, forward];
    }),
  ];
}
