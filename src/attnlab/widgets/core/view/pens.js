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

/** @type {(family: string) => Pen} */
export function svgPen(family) {
  const parts = [];
  const put = (tag, props, text) => {
    const named = Object.entries(props).map(([name, value]) => ` ${name}="${xml(String(value))}"`);
    parts.push(`<${tag}${named.join("")}${text === undefined ? "/>" : `>${xml(text)}</${tag}>`}`);
  };
  return {
    rect: (x, y, width, height, fill) => put("rect", { x, y, width, height, fill: css(fill) }),
    frame: (x, y, width, height, colour, thick) =>
      put("rect", { x, y, width, height, fill: "none", stroke: css(colour), "stroke-width": thick }),
    line: (x1, y1, x2, y2, colour) => put("line", { x1, y1, x2, y2, stroke: css(colour) }),
    text(text, x, y, { size, colour, align = "left", upright = false }) {
      const turn = upright ? { transform: `rotate(-90 ${x} ${y})` } : {};
      put(
        "text",
        {
          x,
          y,
          "font-size": size,
          fill: css(colour),
          "text-anchor": ANCHORS[align],
          "dominant-baseline": "central",
          ...turn,
        },
        text,
      );
    },
    matrix({ pixels, nQ, nK }, x, y, width, height) {
      const cell = { width: width / nK, height: height / nQ };
      const bytes = new Uint8Array(pixels.buffer, pixels.byteOffset, pixels.byteLength);
      for (let at = 0; at < nQ * nK; at++) {
        const place = { x: x + (at % nK) * cell.width, y: y + Math.floor(at / nK) * cell.height };
        put("rect", { ...place, ...cell, fill: css(bytes.slice(4 * at, 4 * at + 3)) });
      }
    },
    finish: (width, height, title) => svgFile(parts, width, height, title, family),
  };
}

const svgFile = (parts, width, height, title, family) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" ` +
  `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" ` +
  `font-family="${xml(family)}"><title>${xml(title)}</title>${parts.join("")}</svg>\n`;
