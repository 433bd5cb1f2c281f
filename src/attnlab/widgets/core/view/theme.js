// Colours come from the style sheet's custom properties, so that a canvas follows the page.

/** @import { Colour } from "../types.d.ts" */

const NAMES = [
  "ink",
  "paper",
  "accent",
  "line",
  "muted",
  "half",
  "full",
  "masked",
  ...Array.from({ length: 6 }, (_, h) => `head-${h}`),
];

/** @type {CanvasRenderingContext2D} */
let probe;

/** Any CSS colour as [red, green, blue, alpha]: the browser itself is asked to paint it. @type {(colour: string) => number[]} */
export function rgba(colour) {
  probe ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  probe.clearRect(0, 0, 1, 1);
  probe.fillStyle = colour;
  probe.fillRect(0, 0, 1, 1);
  return Array.from(probe.getImageData(0, 0, 1, 1).data);
}

/** The present colours of a widget, as [red, green, blue] each. @type {(node: Element) => Record<string, Colour>} */
export function colours(node) {
  const style = getComputedStyle(node);
  const read = (name) => rgba(style.getPropertyValue(`--attnbook-${name}`).trim()).slice(0, 3);
  return Object.fromEntries(NAMES.map((name) => [name, read(name)]));
}

/** @type {(colour: Colour) => string} */
export const css = ([red, green, blue]) => `rgb(${red},${green},${blue})`;

const between = (from, to, share) => from.map((part, place) => Math.round(part + (to[place] - part) * share));

/**
 * The colour of a weight: 0 is the page, 1 the full accent, as in the book's other figures.
 * @type {(weight: number, palette: any) => Colour}
 */
export const shade = (weight, { paper, half, full }) =>
  weight < 0.5 ? between(paper, half, 2 * weight) : between(half, full, 2 * weight - 1);

/**
 * Black or white, whichever can be read on this colour (one of them has at least 4.5 : 1).
 * @type {(colour: Colour) => Colour}
 */
export const readable = (colour) => (luminance(colour) > 0.179 ? [0, 0, 0] : [255, 255, 255]);

function luminance(colour) {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * 256 shades as one pixel each, and at place 256 the colour of a masked cell.
 * @type {(palette: Record<string, Colour>) => Uint32Array}
 */
export function ramp(palette) {
  const bytes = new Uint8ClampedArray(4 * 257);
  for (let place = 0; place <= 256; place++) {
    const colour = place === 256 ? palette.masked : shade(place / 255, palette);
    bytes.set([...colour, 255], 4 * place);
  }
  return new Uint32Array(bytes.buffer);
}

/**
 * Call back whenever the page's theme may have changed; returns a function that stops it.
 * @type {(changed: () => void) => () => void}
 */
export function watchTheme(changed) {
  const observer = new MutationObserver(changed);
  const attributeFilter = ["data-theme", "theme", "data-jp-theme-light", "class"];
  for (const node of [document.documentElement, document.body]) {
    observer.observe(node, { attributes: true, attributeFilter });
  }
  const media = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) => matchMedia(query));
  media.forEach((query) => query.addEventListener("change", changed));
  return () => {
    observer.disconnect();
    media.forEach((query) => query.removeEventListener("change", changed));
  };
}
