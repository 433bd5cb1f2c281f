// Rotary clocks in words and as a table.

import { grouped } from "../core/maths/number.js";
import { fixed, plain, short } from "../core/view/text.js";
import { ROUND, stretch } from "./maths.js";

export const degrees = (angle, decimals = 0) => `${fixed((angle * 360) / ROUND, decimals)}°`;

const count = (hands, what) => hands.filter((hand) => hand[what]).length;

export function said({ hands, distance, plainly, now, scaling, s }) {
  const [outside, beyond] = ["outside", "beyond"].map((what) => count(hands, what));
  const longer = stretch(scaling, s);
  return (
    `At the distance ${grouped(distance)}, ${outside} of ${hands.length} hands stand${outside === 1 ? "s" : ""} at an angle that ` +
    `training never showed; on the way from distance 0 to here, ${beyond} come${beyond === 1 ? "s" : ""} to such angles. ` +
    `One step turns the fastest hand by ${degrees(now[0], 1)}` +
    `${now[0] === plainly[0] ? ", as in training." : `; in training it was ${degrees(plainly[0], 1)}.`}` +
    `${longer === 1 ? "" : ` Queries and keys are ${plain(longer)} times as long.`}`
  );
}

export const ofPair = ({ pair, plainly, now, trained }) => {
  const [before, after] = [plainly, now].map((speeds) => ROUND / speeds[pair]);
  const turns = (trained * plainly[pair]) / ROUND;
  return (
    `Pair ${pair} came round every ${short(before)} tokens, so it turned ${short(turns)} times in ` +
    `training. ${before === after ? "It is not slowed." : `Now it takes ${short(after)}: ${short(after / before)} times slower.`}`
  );
};

/** Every pair, a row each. */
export const rows = ({ hands, known, plainly, now }) => [
  ["pair i", "wavelength", "angles met", "angle now"],
  ...hands.map(({ angle, outside }, i) => [
    String(i),
    [...new Set([plainly, now].map((speeds) => short(ROUND / speeds[i])))].join(" → "),
    known[i] < ROUND ? `0 to ${degrees(known[i], 1)}` : "all",
    `${degrees(angle, 1)}${outside ? ", never met" : ""}`,
  ]),
];
