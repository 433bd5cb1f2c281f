// A live picture as an SVG file that needs nothing else: what its elements look like at this
// moment, box by box and line by line, in light colours. What means nothing on paper is hidden by
// the style sheet while the picture is read (.attnbook-saving); a box becomes what stands in it.

import { el, mark } from "./dom.js";
import { save, xml } from "./files.js";
import { svgPen, tagged } from "./pens.js";
import { painted } from "./plot.js";
import { css, rgba } from "./theme.js";

const MARGIN = 12;
const SIDES = ["Top", "Right", "Bottom", "Left"];
const DASHES = { "stroke-dasharray": "4 3" };
const ANCHORS = { center: "middle", right: "end", end: "end" };
const PLACES = "x y x1 y1 x2 y2 dx dy cx cy r rx ry width height d points transform".split(" ");
// how a part of a drawing looks, and what it looks like where nothing is said
const LOOKS = {
  fill: "rgb(0, 0, 0)",
  stroke: "none",
  "stroke-width": "1px",
  "stroke-dasharray": "none",
  "stroke-linecap": "butt",
  "stroke-linejoin": "miter",
  "vector-effect": "none",
  opacity: "1",
  "font-family": "",
  "font-size": "",
  "font-style": "normal",
  "font-weight": "400",
  "text-anchor": "start",
};

const px = (text) => Number.parseFloat(text) || 0;
const round = (value) => Math.round(value * 100) / 100;
const see = (colour, name = "fill") => {
  const [red, green, blue, alpha] = rgba(colour);
  return alpha
    ? { [name]: css([red, green, blue]), ...(alpha < 255 && { [`${name}-opacity`]: round(alpha / 255) }) }
    : null;
};

/** A length of a style in pixels, a share of `whole`. @type {(text: string, whole: number) => number} */
function length(text, whole) {
  const parts = [...text.replace(/- /g, "-").matchAll(/(-?[\d.]+)(px|%)/g)];
  return parts.reduce((sum, [, value, unit]) => sum + Number(value) * (unit === "%" ? whole / 100 : 1), 0);
}

/** The parts of a style, with what stands in brackets left whole. @type {(text: string, by?: string) => string[]} */
function listed(text, by = ",") {
  const found = [""];
  let depth = 0;
  for (const sign of text) {
    depth += { "(": 1, ")": -1 }[sign] ?? 0;
    if (sign === by && !depth) found.push("");
    else found[found.length - 1] += sign;
  }
  return found.map((part) => part.trim());
}

/** A rectangle without the borders of its element, and without the padding too. */
function within(node, style, padding) {
  const { left, top, right, bottom } = node.getBoundingClientRect();
  const [up, east, down, west] = SIDES.map(
    (side) => px(style[`border${side}Width`]) + (padding ? px(style[`padding${side}`]) : 0),
  );
  return { left: left + west, top: top + up, width: right - east - left - west, height: bottom - down - top - up };
}

/**
 * The elements of an SVG file of what is seen in a node, and how far they reach.
 * @type {(root: HTMLElement) => {parts: string[], reach: number[]}}
 */
function drawing(root) {
  const parts = [];
  const base = root.getBoundingClientRect();
  const reach = [0, 0, base.width, base.height];
  const measure = document.createElement("canvas").getContext("2d");
  const put = (name, props, text) => parts.push(tagged(name, props, text));

  const spread = ({ left, top, width, height }) => {
    const [x, y] = [left - base.left, top - base.top];
    [x, y].forEach((value, at) => {
      reach[at] = Math.min(reach[at], value);
    });
    [x + width, y + height].forEach((value, at) => {
      reach[at + 2] = Math.max(reach[at + 2], value);
    });
    return { x: round(x), y: round(y), width: round(width), height: round(height) };
  };

  const rect = (place, look) => {
    if (look && place.width > 0 && place.height > 0) put("rect", { ...spread(place), ...look });
  };

  const framed = ({ left, top, width, height }, by, look) =>
    rect({ left: left + by, top: top + by, width: width - 2 * by, height: height - 2 * by }, { fill: "none", ...look });

  /** What stands behind an element and around it. */
  function box(node, style) {
    const place = node.getBoundingClientRect();
    const { left, top, width, height } = place;
    const rx = Math.min(px(style.borderTopLeftRadius), width / 2, height / 2);
    const round = rx && { rx };
    const fill = see(style.backgroundColor);
    rect(place, fill && { ...fill, ...round });
    if (style.backgroundImage !== "none") bars(node, style);
    /** @type {[number, string][]} */
    const edges = SIDES.map((side) => [px(style[`border${side}Width`]), style[`border${side}Color`]]);
    const dashed = style.borderTopStyle === "dashed";
    if (edges.every((edge) => String(edge) === String(edges[0])))
      edge(place, ...edges[0], { ...round, ...(dashed && DASHES) });
    else {
      const [up, east, down, west] = edges;
      const along = (more, [, colour]) => rect({ left, top, width, height, ...more }, see(colour));
      along({ height: up[0] }, up);
      along({ top: top + height - down[0], height: down[0] }, down);
      along({ width: west[0] }, west);
      along({ left: left + width - east[0], width: east[0] }, east);
    }
    // here a shadow is a line round the box, as an outline is
    const shadow = /^(.*\)) 0px 0px 0px ([\d.]+)px( inset)?$/.exec(style.boxShadow);
    if (shadow) edge(place, Number(shadow[2]), shadow[1], round, shadow[3] ? 0 : Number(shadow[2]));
    if (style.outlineStyle !== "none") {
      const wide = px(style.outlineWidth);
      const look = { ...round, ...(style.outlineStyle === "dashed" && DASHES) };
      edge(place, wide, style.outlineColor, look, wide + px(style.outlineOffset));
    }
  }

  /** A line round a box, so far outside of it. */
  function edge(place, wide, colour, more, out = 0) {
    const look = wide && see(colour, "stroke");
    if (look) framed(place, wide / 2 - out, { ...look, ...(wide !== 1 && { "stroke-width": wide }), ...more });
  }

  /** Bars that a style sheet draws, as gradients that change at once. */
  function bars(node, style) {
    const place = within(node, style);
    const [sizes, places] = [listed(style.backgroundSize), listed(style.backgroundPosition)];
    listed(style.backgroundImage).forEach((image, at) => {
      const [wide, high = "auto"] = listed(sizes[at % sizes.length], " ");
      const [x, y] = listed(places[at % places.length], " ");
      const width = wide === "auto" ? place.width : length(wide, place.width);
      const height = high === "auto" ? place.height : length(high, place.height);
      const left = place.left + length(x, place.width - width);
      const top = place.top + length(y, place.height - height);
      stripes(image, { left, top, width, height });
    });
  }

  function stripes(image, { left, top, width, height }) {
    const [, again, given] = /^(repeating-)?linear-gradient\((.*)\)$/.exec(image) ?? [];
    if (!given) return;
    const stops = listed(given);
    const way = /^(to|[\d.]+deg)/.test(stops[0]) ? stops.shift() : "";
    const lying = way === "90deg";
    const whole = lying ? width : height;
    let last = 0;
    const read = stops.flatMap((stop, at) => {
      const [colour, ...given] = listed(stop, " ");
      const found = given.length ? given : [at ? "100%" : "0%"];
      return found.map((one) => {
        last = Math.max(last, length(one, whole));
        return { colour, at: last };
      });
    });
    const ends = again ? read : [{ ...read[0], at: 0 }, ...read, { ...read[read.length - 1], at: whole }];
    for (let from = 0; from < whole; from += again ? last : whole) {
      ends.slice(1).forEach(({ colour, at: to }, place) => {
        const one = ends[place];
        if (one.colour !== colour) return;
        const [start, size] = [from + one.at, Math.min(from + to, whole) - from - one.at];
        const upwards = way === "to top" ? top + height - start - size : top + start;
        rect(
          lying ? { left: left + start, top, width: size, height } : { left, top: upwards, width, height: size },
          see(colour),
        );
      });
    }
  }

  /** One line of text; `place` is where it stands from its font's ascent to its descent. */
  function line(text, { left, top, width, height }, style, struck) {
    const { fontStyle, fontWeight, fontSize, fontFamily, color } = style;
    measure.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
    const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = measure.measureText(text);
    const anchor = ANCHORS[style.textAlign];
    const x = left - base.left + (anchor === "end" ? width : anchor ? width / 2 : 0);
    spread({ left, top, width, height });
    put(
      "text",
      {
        x: round(x),
        y: round(top - base.top + (height - up - down) / 2 + up),
        "font-size": px(fontSize),
        ...see(color),
        ...(anchor && { "text-anchor": anchor }),
        ...(fontFamily !== family && { "font-family": fontFamily }),
        ...(fontWeight !== "400" && { "font-weight": fontWeight }),
        ...(fontStyle !== "normal" && { "font-style": fontStyle }),
        ...(struck && { "text-decoration": "line-through" }),
      },
      text,
    );
  }

  /** The lines of a text as they are broken here. */
  function words(node, style, struck) {
    const parent = node.parentElement;
    const edge = style.textOverflow === "ellipsis" ? parent.getBoundingClientRect().right + 1 : Infinity;
    const range = document.createRange();
    let [now, at, cut] = [null, 0, false];
    const done = () => now && line(now.text.trimEnd() + (cut ? "…" : ""), now, style, struck);
    for (const letter of node.data) {
      range.setStart(node, at);
      at += letter.length;
      range.setEnd(node, at);
      const { left, right, top, height } = range.getBoundingClientRect();
      const blank = /\s/.test(letter);
      if (cut || !height || (blank && (!now || left === right))) continue;
      cut = right > edge;
      if (cut) continue;
      if (!now || (Math.abs(top - now.top) > height / 2 && !blank)) {
        done();
        now = { text: "", left, top, width: 0, height };
      }
      now.text += blank ? " " : letter;
      if (!blank) now.width = right - now.left;
    }
    done();
  }

  /** What stands in a box, or whether it is ticked. */
  function field(node, style) {
    const place = node.getBoundingClientRect();
    const look = see(style.color, "stroke");
    if (node.type === "checkbox" || node.type === "radio") {
      framed(place, 2, { ...look, rx: node.type === "radio" ? place.width / 2 : 1 });
      const { x, y, width } = spread(place);
      const d = [
        [0.3, 0.5],
        [0.45, 0.65],
        [0.7, 0.35],
      ].map(([right, down]) => `${round(x + right * width)} ${round(y + down * width)}`);
      if (node.checked) put("path", { d: `M${d.join("L")}`, fill: "none", ...look, "stroke-width": 2 });
    } else line(node.selectedOptions?.[0]?.text ?? node.value, lineOf(node, style), style);
  }

  /** Where the text of a box stands. */
  function lineOf(node, style) {
    const inside = within(node, style, true);
    measure.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const { width } = measure.measureText(node.selectedOptions?.[0]?.text ?? node.value);
    const room = inside.width - width;
    const at = { middle: room / 2, end: room }[ANCHORS[style.textAlign]] ?? 0;
    return { ...inside, left: inside.left + at, width };
  }

  /** A map by its own pen; the pixels of one that has none as an image. */
  function map(canvas, style) {
    const { x, y, width, height } = spread(within(canvas, style, true));
    const found = painted.get(canvas);
    if (found) {
      parts.push(`<g transform="translate(${x} ${y}) scale(${round(width / found.at.width)})">`);
      found.draw(svgPen(put));
      parts.push("</g>");
    } else if (width && height) {
      const fit = style.objectFit === "contain" ? "xMidYMin" : "none";
      const how = { style: "image-rendering:pixelated", preserveAspectRatio: fit };
      put("image", { x, y, width, height, href: canvas.toDataURL(), ...how });
    }
  }

  /** A drawing of the page's own, with what the style sheet says of each of its parts. */
  function copied(node) {
    if (node.nodeType === Node.TEXT_NODE) return xml(node.data);
    const style = getComputedStyle(node);
    if (style.display === "none" || style.visibility !== "visible" || node.localName === "title") return "";
    const props = {};
    for (const name of PLACES) if (node.hasAttribute(name)) props[name] = node.getAttribute(name);
    for (const [name, usual] of Object.entries(LOOKS)) {
      const value = style.getPropertyValue(name);
      const words = node.matches("text, tspan"); // without the light line round them, which would be drawn over them
      if (value === usual || (/^(font|text)/.test(name) ? !words : words && name.startsWith("stroke"))) continue;
      if (/^(fill|stroke)$/.test(name) && value !== "none")
        Object.assign(props, see(value, name) ?? { [name]: "none" });
      else props[name] = value;
    }
    if (!node.matches("g, svg")) spread(node.getBoundingClientRect());
    return tagged(node.localName, props, [...node.childNodes].map(copied).join(""), true);
  }

  function drawn(node) {
    const { a, b, c, d, e, f } = node.getScreenCTM();
    const matrix = [a, b, c, d, e - base.left, f - base.top].map((value) => Math.round(value * 1e4) / 1e4);
    const { opacity } = getComputedStyle(node);
    const inside = [...node.children].map(copied).join("");
    parts.push(
      tagged("g", { transform: `matrix(${matrix.join(" ")})`, ...(opacity < "1" && { opacity }) }, inside, true),
    );
  }

  function walk(node, struck) {
    const style = getComputedStyle(node);
    if (style.display === "none" || style.clipPath !== "none" || style.opacity === "0") return;
    const out = struck || style.textDecorationLine.includes("line-through");
    const visible = style.visibility === "visible";
    if (visible && node.matches("svg")) return drawn(node);
    if (visible && node.matches("input, select")) return field(node, style);
    if (visible) box(node, style);
    if (visible && node.matches("canvas")) return map(node, style);
    for (const child of node.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE) walk(child, out);
      else if (visible && child.nodeType === Node.TEXT_NODE) words(child, style, out);
    }
  }

  const family = getComputedStyle(root).fontFamily;
  walk(root, false);
  return { parts, reach };
}

/** The text of an SVG file of a node. @type {(root: HTMLElement, title: string) => string} */
function fileOf(root, title) {
  const { parts, reach } = drawing(root);
  const [left, top] = reach.slice(0, 2).map((edge) => Math.floor(edge) - MARGIN);
  const [width, height] = [Math.ceil(reach[2]) + MARGIN - left, Math.ceil(reach[3]) + MARGIN - top];
  const place = { x: left, y: top, width, height };
  const props = {
    xmlns: "http://www.w3.org/2000/svg",
    width,
    height,
    viewBox: `${left} ${top} ${width} ${height}`,
    role: "img",
    "font-family": getComputedStyle(root).fontFamily,
    style: "font-variant-numeric:tabular-nums",
  };
  const inside = [tagged("title", {}, title), tagged("rect", { ...place, fill: "#fff" }), ...parts].join("\n");
  return `<?xml version="1.0" encoding="UTF-8"?>\n${tagged("svg", props, inside, true)}\n`;
}

/** Put what the style sheet writes before and after a node beside it, where it can be read. */
function spoken(node) {
  const made = ["::before", "::after"].map((which) => {
    const style = getComputedStyle(node, which);
    if (/^(none|normal)$/.test(style.content) || style.display === "none") return null;
    const text = style.content.replace(/attr\(([\w-]+)\)/g, (_, name) => JSON.stringify(node.getAttribute(name)));
    const span = el("span", {}, [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, one]) => one).join(""));
    for (const name of style) span.style.setProperty(name, style.getPropertyValue(name));
    return span;
  });
  const [before, after] = made;
  if (before) node.prepend(before);
  if (after) node.append(after);
  const found = made.filter(Boolean);
  if (found.length) mark(node, "spoken");
  return () => {
    for (const one of found) one.remove();
    if (found.length) mark(node, "spoken", false);
  };
}

/**
 * Save a figure's picture as it looks now, but light and without its controls.
 * @type {(figure: HTMLElement, kind: string) => void}
 */
export function savePicture(figure, kind) {
  const root = /** @type {HTMLElement} */ (figure.querySelector(".attnbook-live"));
  const title = figure.querySelector("figcaption")?.textContent || figure.getAttribute("aria-label");
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  const scrolled = [...root.querySelectorAll("*")]
    .filter((node) => node.scrollLeft)
    .map((node) => ({ node, left: node.scrollLeft }));
  const recolour = (on) => {
    mark(figure, "saving", on);
    figure.dispatchEvent(new Event("attnbook-recolour"));
  };
  figure.style.minHeight = `${figure.offsetHeight}px`; // nothing moves round it
  recolour(true);
  for (const { node } of scrolled) node.scrollLeft = 0;
  const undo = [...root.querySelectorAll("*")].map(spoken);
  try {
    save(`attention-${kind}.svg`, fileOf(root, title), "image/svg+xml");
  } finally {
    for (const back of undo) back();
    recolour(false);
    figure.style.minHeight = "";
    for (const { node, left } of scrolled) node.scrollLeft = left;
    focused.focus({ preventScroll: true });
  }
}
