// Two pens that draw the same picture: one on a canvas, one as SVG text. Both know rectangles,
// lines, text (its middle at y) and a matrix of coloured cells, and nothing else.

import { xml } from "./files.js";
import { css } from "./theme.js";

/** @import { Pen } from "../types.d.ts" */

/** @type {(context: CanvasRenderingContext2D, family: string) => Pen} */
export function canvasPen(context, family) {
  return {
    rect(x, y, width, height, fill) {
      context.fillStyle = css(fill);
      context.fillRect(x, y, width, height);
    },
    frame(x, y, width, height, colour, thick) {
      context.strokeStyle = css(colour);
      context.lineWidth = thick;
      context.strokeRect(x, y, width, height);
    },
    line(x1, y1, x2, y2, colour) {
      context.strokeStyle = css(colour);
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      context.stroke();
    },
    text: (text, x, y, style) => paintText(context, family, text, x, y, style),
    matrix({ canvas }, x, y, width, height) {
      context.imageSmoothingEnabled = false; // one sharp square for each weight
      context.drawImage(canvas, x, y, width, height);
    },
  };
}

function paintText(context, family, text, x, y, style) {
  const { size, colour, align = "left", upright = false } = style;
  context.font = `${size}px ${family}`;
  context.fillStyle = css(colour);
  context.textAlign = align;
  context.textBaseline = "middle";
  context.save();
  context.translate(x, y);
  if (upright) context.rotate(-Math.PI / 2);
  context.fillText(text, 0, 0);
  context.restore();
}

const ANCHORS = { left: "start", center: "middle", right: "end" };

/**
 * An element of an SVG file; what stands in it is text, or elements that were made here.
 * @type {(name: string, props: Record<string, any>, inside?: string, made?: boolean) => string}
 */
export function tagged(name, props, inside = "", made = false) {
  const named = Object.entries(props).map(([prop, value]) => ` ${prop}="${xml(String(value))}"`);
  return `<${name}${named.join("")}${inside ? `>${made ? inside : xml(inside)}</${name}>` : "/>"}`;
}

/**
 * A pen that has elements put into an SVG file.
 * @type {(put: (name: string, props: Record<string, any>, text?: string) => void) => Pen}
 */
export function svgPen(put) {
  return {
    rect: (x, y, width, height, fill) => put("rect", { x, y, width, height, fill: css(fill) }),
    frame: (x, y, width, height, colour, thick) =>
      put("rect", { x, y, width, height, fill: "none", stroke: css(colour), "stroke-width": thick }),
    line: (x1, y1, x2, y2, colour) => put("line", { x1, y1, x2, y2, stroke: css(colour) }),
    text(text, x, y, { size, colour, align = "left", upright = false }) {
      const turn = upright ? { transform: `rotate(-90 ${x} ${y}) translate(0 ${0.35 * size})` } : {};
      // the middle of its digits at y; not by dominant-baseline, which Word does not know
      const place = { x, y: upright ? y : y + 0.35 * size, "font-size": size, fill: css(colour) };
      put("text", { ...place, "text-anchor": ANCHORS[align], ...turn }, text);
    },
    matrix({ pixels, nQ, nK }, x, y, width, height) {
      const cell = { width: width / nK, height: height / nQ };
      const bytes = new Uint8Array(pixels.buffer, pixels.byteOffset, pixels.byteLength);
      for (let at = 0; at < nQ * nK; at++) {
        const place = { x: x + (at % nK) * cell.width, y: y + Math.floor(at / nK) * cell.height };
        put("rect", { ...place, ...cell, fill: css(bytes.slice(4 * at, 4 * at + 3)) });
      }
    },
  };
}
