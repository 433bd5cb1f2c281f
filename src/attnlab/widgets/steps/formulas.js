// The five steps of self-attention as formulas: once in letters, once in the present numbers.

import { el } from "../core/view/dom.js";
import { factor, fixed, plain, vector } from "../core/view/text.js";

const low = (index) => el("sub", {}, el("i", {}, index));
const sub = (letter, index) => [el("i", {}, letter), low(index)];
const bold = (letter, index) => [el("b", {}, letter), low(index)];

/** Each step: its name, what it does, its formula in letters. */
export const STEPS = [
  {
    name: "score",
    says: "Multiply the query’s vector with every token’s vector: one score each.",
    letters: () => [bold("x", "i"), " · ", bold("x", "j")],
  },
  {
    name: "scale",
    says: "Divide each score by the square root of d, the number of components.",
    letters: () => [sub("e", "ij"), " = ", bold("x", "i"), " · ", bold("x", "j"), " / √", el("i", {}, "d")],
  },
  {
    name: "mask",
    says: "Leave out every key that stands after the query.",
    letters: () => [sub("e", "ij"), " is kept only where ", el("i", {}, "j"), " ≤ ", el("i", {}, "i")],
  },
  {
    name: "softmax",
    says: "Raise e to each score and divide by their sum: the weights add up to 1.",
    letters: () => [sub("α", "ij"), " = exp(", sub("e", "ij"), ") / Σ", low("m"), " exp(", sub("e", "im"), ")"],
  },
  {
    name: "sum",
    says: "Add up all vectors, each as much as its weight says: the query’s new vector.",
    letters: () => [bold("y", "i"), " = Σ", low("j"), " ", sub("α", "ij"), " ", bold("x", "j")],
  },
];

/** The lines of one step with the present numbers in them. */
export function numbers(step, now) {
  return [scoreLines, scaleLines, maskLines, softmaxLines, sumLines][step](now);
}

const pair = (letter, { names, query }, j) => `${letter}(${names[query]}, ${names[j]})`;

function scoreLines(now) {
  const { vectors, query, raw } = now;
  return raw.map((score, j) => {
    const products = vectors[j].map((x, c) => `${factor(vectors[query][c])}·${factor(x)}`);
    return `${now.names[query]} · ${now.names[j]} = ${products.join(" + ")} = ${plain(score)}`;
  });
}

function scaleLines(now) {
  const { scaled, raw, ready, vectors } = now;
  if (!scaled) return ["Not scaled: the switch is off, the scores stay as they are."];
  return raw.map((score, j) => `${pair("e", now, j)} = ${plain(score)} / √${vectors[0].length} = ${plain(ready[j])}`);
}

function maskLines(now) {
  const { causal, may, names, query } = now;
  if (!causal) return ["Not masked: the switch is off, every key stays."];
  return names.map((name, j) =>
    may[j] ? `${name} stays: it is at or before ${names[query]}` : `${name} is masked: it stands after ${names[query]}`,
  );
}

function softmaxLines(now) {
  const { ready, may, weights } = now;
  const raised = ready.map((score) => `exp(${plain(score)})`);
  const sum = raised.filter((_, j) => may[j]).join(" + ");
  return weights.map((weight, j) =>
    may[j] ? `${pair("α", now, j)} = ${raised[j]} / (${sum}) = ${fixed(weight)}` : `${pair("α", now, j)} = 0, masked`,
  );
}

function sumLines({ vectors, weights, output, names, query }) {
  const parts = vectors.map((values, j) => `${fixed(weights[j])}·${vector(values)}`);
  return [`y(${names[query]}) = ${parts.join(" + ")} = ${vector(output, fixed)}`];
}
