// What the memory's picture says, in a sentence and as a table.

import { listed, plain, vector } from "../core/view/text.js";

export const NAMES = ["k₁", "k₂", "k₃"];
export const WRITES = ["sum", "delta", "phi"];

/** Write by write, as Python's table. */
export const rows = ({ plain: keys, values, steps }) => [
  ["write", "key", "value", "S", ...keys.map((_, j) => `${NAMES[j]} reads`)],
  ...steps
    .slice(1)
    .map(({ S, asked }, n) => [
      String(n + 1),
      vector(keys[n]),
      vector(values[n]),
      S.map((row) => vector(row)).join("; "),
      ...asked.map(({ read }, j) => (j > n ? "–" : vector(read))),
    ]),
];

/** What the last write did, which keys read their value back, and why the others do not. */
export function said({ write, decay, length, keys, before, under, asked, step }) {
  if (!step) return "Nothing is written yet.";
  const [k, v] = [NAMES[step - 1], `v${NAMES[step - 1][1]}`];
  const done = {
    sum: `${v} is written under ${k}.`,
    delta: `Asked first, ${k} reads ${vector(before)}; β times what is missing to ${v}, ${vector(under)}, is written.`,
    phi: `${v} is written under φ(${k}) = ${vector(keys[step - 1])}.`,
  };
  const some = (wrong) => NAMES.filter((_, j) => j < step && !asked[j].off === !wrong);
  const [right, wrong] = [some(false), some(true)];
  const rest = wrong.length ? `; ${listed(wrong)} ${wrong[1] ? "do" : "does"} not` : "";
  const back = `${listed(right)} ${right[1] ? "read their values" : "reads its value"} back${rest}.`;
  const told = [done[write], right.length ? back : "No key reads its value back."];
  const [x, y] = step > 2 ? keys[2].map((part) => plain(part)) : [];
  const zero = "k₃ is all zeros: nothing is written under it, and it reads (0, 0).";
  const sized = `k₃ reads |k₃|² = ${plain(length ** 2)} times what is written under it.`;
  const three = `Three keys in a plane cannot all stand at right angles: k₁ reads ${x} times what is written under k₃, k₂ ${y} times.`;
  if (!wrong.length) return told.join(" ");
  if (write === "phi")
    told.push("φ makes every number positive, so no keys stand at right angles: each reads an average of the values.");
  else if (step > 2) told.push(!length ? zero : length === 1 ? three : `${three} ${sized}`);
  if (decay < 1 && step > 1)
    told.push(`Each write first multiplies S by g = ${plain(decay)}${decay ? "" : ": all that was there is gone"}.`);
  return told.join(" ");
}
