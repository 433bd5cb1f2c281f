// The bytes of each model's cache over the context, both on logarithmic axes.

import { times } from "../core/maths/lists.js";
import { grouped } from "../core/maths/number.js";
import { svg } from "../core/view/dom.js";
import { apart, cacheBytes, sized } from "./maths.js";

export const FIRST = 7; // the shortest context that is drawn, as a power of 2
export const LAST = 20;
const [LEAST, MOST] = [6, 13]; // bytes, as powers of 10
const FINE = 8; // points to each doubling
const HIGH = 340;
const [LEFT, TOP, FOOT] = [54, 10, 42];
const GAP = 15; // between two names
const NAMES = { letter: 6.7, most: 132 };
const TICKS = [7, 13, 20]; // as powers of 2: more do not fit on a phone
export const MEMORIES = [24, 80, 141]; // GB

const GIGA = 1e9;

function layout(width, models) {
  const longest = Math.max(...models.map(({ name }) => name.length));
  const right = width - Math.min(NAMES.most, 12 + NAMES.letter * longest);
  const bottom = HIGH - FOOT;
  return {
    width,
    right,
    bottom,
    x: (power) => LEFT + ((power - FIRST) / (LAST - FIRST)) * (right - LEFT),
    y: (bytes) => bottom - ((Math.log10(bytes) - LEAST) / (MOST - LEAST)) * (bottom - TOP),
  };
}

/** A model's curve in two pieces: as far as its own context, and beyond. */
function pieces(at, bytesOf, own) {
  const points = times((LAST - FIRST) * FINE + 1, (i) => {
    const n = Math.round(2 ** (FIRST + i / FINE));
    return { n, spot: `${at.x(Math.log2(n)).toFixed(1)} ${at.y(Math.max(1, bytesOf(n))).toFixed(1)}` };
  });
  const within = points.filter(({ n }) => n <= own);
  const path = (some) => (some.length > 1 ? `M${some.map(({ spot }) => spot).join("L")}` : "");
  return [path(within), path(points.slice(Math.max(0, within.length - 1)))];
}

/** The whole picture; `choose` is told of a context by its power of 2. */
export function curves(choose) {
  let at = null;
  const pick = (event) => {
    if (!at || !(event.buttons & 1)) return;
    const box = node.getBoundingClientRect();
    const share = (((event.clientX - box.left) / box.width) * at.width - LEFT) / (at.right - LEFT);
    choose(Math.max(FIRST, Math.min(LAST, Math.round(FIRST + share * (LAST - FIRST)))));
  };
  const node = svg("svg", { "aria-hidden": "true", onpointerdown: pick, onpointermove: pick });
  const show = (now, width) => {
    at = layout(width, now.models);
    node.setAttribute("viewBox", `0 0 ${width} ${HIGH}`);
    node.replaceChildren(...axes(at), inside(at, now), ...names(at, now));
  };
  return { node, show };
}

const words = (props, text) => svg("text", props, text);

function axes(at) {
  const rows = times(MOST - LEAST + 1, (i) => {
    const bytes = 10 ** (LEAST + i);
    const y = at.y(bytes).toFixed(1);
    const label = sized(bytes).replace(".00", "").replace(".0", "");
    return [
      svg("path", { class: "grid", d: `M${LEFT} ${y}H${at.right}` }),
      words({ x: LEFT - 6, y: Number(y) + 4, "text-anchor": "end" }, label),
    ];
  });
  const columns = TICKS.map((power) => {
    const x = at.x(power).toFixed(1);
    return [
      svg("path", { class: "grid", d: `M${x} ${at.bottom}v5` }),
      words({ x, y: at.bottom + 18, "text-anchor": "middle" }, grouped(2 ** power)),
    ];
  });
  const under = { x: (LEFT + at.right) / 2, y: at.bottom + 36, "text-anchor": "middle" };
  return [...rows.flat(), ...columns.flat(), words(under, "tokens in a text")];
}

/** What stays within the axes: an SVG of its own cuts off the rest. */
function inside(at, now) {
  const { models, chosen, context, batch, bits, gpu, all } = now;
  const box = { x: LEFT, y: TOP, width: at.right - LEFT, height: at.bottom - TOP };
  const view = `${box.x} ${box.y} ${box.width} ${box.height}`;
  const others = models.flatMap((model, i) =>
    i === chosen ? [] : drawn(at, (n) => cacheBytes(model, n, batch, bits), model.context, "other"),
  );
  const { cache, weights } = all[chosen];
  const mine = (n) => cacheBytes(models[chosen], n, batch, bits);
  const x = at.x(Math.log2(context)).toFixed(1);
  const dot = (bytes) => svg("circle", { cx: x, cy: at.y(Math.max(1, bytes)).toFixed(1), r: 4, class: "dot" });
  return svg(
    "svg",
    { ...box, viewBox: view },
    memories(at, gpu),
    svg("path", { class: "here", d: `M${x} ${TOP}V${at.bottom}` }),
    others,
    drawn(at, (n) => weights + mine(n), Infinity, "sum"),
    drawn(at, mine, models[chosen].context, "mine"),
    words({ x: LEFT + 5, y: (at.y(weights) + 14).toFixed(1), class: "mine" }, "with weights"),
    dot(cache),
    dot(cache + weights),
  );
}

function drawn(at, bytesOf, own, name) {
  const [within, beyond] = pieces(at, bytesOf, own);
  return [svg("path", { class: name, d: within }), svg("path", { class: `${name} beyond`, d: beyond })];
}

/** A line for each GPU; the chosen one is thicker. Lines are near, so that names take turns. */
function memories(at, gpu) {
  const places = [
    [50, -4],
    [5, 13],
    [5, -4],
  ];
  return MEMORIES.flatMap((size, i) => {
    const y = at.y(size * GIGA);
    const name = size === gpu ? "gpu on" : "gpu";
    const [right, down] = places[i];
    return [
      svg("path", { class: name, d: `M${LEFT} ${y.toFixed(1)}H${at.right}` }),
      words({ x: LEFT + right, y: (y + down).toFixed(1), class: name }, `${size} GB`),
    ];
  });
}

/** The models' names at the ends of their curves. */
function names(at, { models, chosen, batch, bits }) {
  const ends = models.map((model) => at.y(Math.max(1, cacheBytes(model, 2 ** LAST, batch, bits))));
  return apart(ends, GAP, TOP + 2, at.bottom).map((y, i) =>
    words({ x: at.right + 7, y: (y + 4).toFixed(1), class: i === chosen ? "mine" : null }, models[i].name),
  );
}
