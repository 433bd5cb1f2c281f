// Sinusoidal positions as plain numbers: a sine and its cosine side by side, as in the package.

import { dot } from "../core/maths/nn.js";

/**
 * ω_i = base^(∓2i / d): by how many radians the hand of each pair turns from place to place.
 * @type {(d: number, base: number, formula: string) => number[]}
 */
export const speeds = (d, base, formula) =>
  Array.from({ length: d / 2 }, (_, i) => base ** (((formula === "divides" ? -2 : 2) * i) / d));

/**
 * The vector of one position: (sin, cos) of position · ω_i for each pair.
 * @type {(position: number, omega: number[]) => number[]}
 */
export const encoded = (position, omega) =>
  omega.flatMap((speed) => [Math.sin(position * speed), Math.cos(position * speed)]);

/**
 * PE[p] R(k): every pair of a vector, turned by the angle k · ω_i; p is nowhere asked.
 * @type {(vector: number[], omega: number[], k: number) => number[]}
 */
export const turned = (vector, omega, k) =>
  omega.flatMap((speed, i) => {
    const [x, y] = vector.slice(2 * i, 2 * i + 2);
    const [sine, cosine] = [Math.sin(k * speed), Math.cos(k * speed)];
    return [x * cosine + y * sine, y * cosine - x * sine];
  });

/**
 * The cosine of the angle between two positions, whose norms are √(d / 2) each.
 * @type {(a: number[], b: number[]) => number}
 */
export const alike = (a, b) => dot(a, b) / (a.length / 2);

/**
 * The cosine of any two positions so far apart: the mean of the cosines of all pairs' angles.
 * @type {(distance: number, omega: number[]) => number}
 */
export const alikeAt = (distance, omega) =>
  omega.reduce((sum, speed) => sum + Math.cos(distance * speed), 0) / omega.length;

/** The largest difference of two vectors, number by number. @type {(a: number[], b: number[]) => number} */
export const farthest = (a, b) => Math.max(...a.map((x, c) => Math.abs(x - b[c])));
