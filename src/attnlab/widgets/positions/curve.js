// How alike the chosen position and each other one are, as a curve of cosines.

import { within } from "../core/maths/lists.js";
import { el, setText, svg } from "../core/view/dom.js";

const [W, H] = [360, 196];
const BOX = { left: 26, right: W - 8, top: 12, bottom: H - 36 };

const y = (value) => (BOX.top + ((1 - value) / 2) * (BOX.bottom - BOX.top)).toFixed(1);
const ring = (at, r) => `M${at}m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;

export function curve(view) {
  const shape = (name) => svg("path", name);
  const [axes, wave, line, dots, here, then] = ["axes", "wave", "line", "dots", "here", "then"].map(shape);
  const words = (props, text) => svg("text", props, text);
  const last = words({ x: BOX.right, y: H - 20, "text-anchor": "end" });
  const chosen = words({ y: H - 5, "text-anchor": "middle", class: "here" });
  const picture = svg(
    "svg",
    {
      viewBox: `0 0 ${W} ${H}`,
      "aria-hidden": "true",
      onpointermove: ({ clientX }) => near(view, clientX, picture),
      onpointerleave: () => near(view, null),
    },
    axes,
    ["1", "0", "−1"].map((text, place) =>
      words({ x: BOX.left - 6, y: Number(y(1 - place)) + 4, "text-anchor": "end" }, text),
    ),
    words({ x: BOX.left, y: H - 20 }, "0"),
    last,
    chosen,
    wave,
    line,
    dots,
    here,
    then,
  );
  axes.setAttribute("d", [1, 0, -1].map((level) => `M${BOX.left} ${y(level)}H${BOX.right}`).join(""));
  const node = el("div", "curve", el("p", "title", "cosine with p; dashed: the chosen pair alone"), picture);
  const show = ({ n, p, later, cosines, own }) => {
    const x = (q) => (BOX.left + (q / (n - 1)) * (BOX.right - BOX.left)).toFixed(1);
    const spots = (values) => values.map((value, q) => `${x(q)} ${y(value)}`);
    const at = spots(cosines);
    line.setAttribute("d", `M${at.join("L")}`);
    dots.setAttribute("d", at.map((spot) => ring(spot, 1.8)).join(""));
    wave.setAttribute("d", `M${spots(own).join("L")}`);
    here.setAttribute("d", `M${x(p)} ${y(1)}V${y(-1)}`);
    then.setAttribute("d", later < n ? ring(at[later], 5) : "");
    setText(last, String(n - 1));
    setText(chosen, `p = ${p}`);
    chosen.setAttribute("x", String(Math.max(BOX.left + 14, Math.min(BOX.right - 18, Number(x(p))))));
  };
  return { node, show };
}

/** The position of the curve that is nearest to the pointer is read out. */
function near(view, clientX, picture) {
  let q = null;
  if (clientX !== null) {
    const { left, width } = picture.getBoundingClientRect();
    const share = (((clientX - left) / width) * W - BOX.left) / (BOX.right - BOX.left);
    q = within(Math.round(share * (view.now.n - 1)), view.now.n - 1);
  }
  if (q === view.near) return;
  view.near = q;
  view.redraw();
}
