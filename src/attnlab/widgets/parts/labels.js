// Tokens as the names of rows and columns.

import { visible } from "../core/view/text.js";

/** Tokens that tell which they are: of one that comes twice, its place is said, from 0. @type {(tokens: string[]) => string[]} */
export const labels = (tokens) =>
  tokens.map(
    (token, place) => visible(token) + (tokens.indexOf(token) === tokens.lastIndexOf(token) ? "" : ` (${place})`),
  );
