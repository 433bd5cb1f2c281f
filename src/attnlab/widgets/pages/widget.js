// Texts in the pages of one pool: the reader starts, writes, forks and ends them.

import { times } from "../core/maths/lists.js";
import {
  alertLine,
  button,
  el,
  mark,
  nodes,
  reset,
  scroller,
  setText,
  setVar,
  statusLine,
  grid as tableOf,
  together,
  twin,
} from "../core/view/dom.js";
import { oneStop } from "../core/view/stop.js";
import { read } from "../core/view/store.js";
import { listed } from "../core/view/text.js";
import { held, replayed, rows, TEXTS } from "./maths.js";

const data = ["longest", "initial"];
const state = ["n_pages", "page", "actions"];

const MOST = { n_pages: 16, page: 8 };
const MOST_ACTIONS = 400;

function build(store) {
  /** @type {any} */
  const view = { store, alert: alertLine(), status: statusLine() };
  // from the store, not from the last picture: two presses may come within one frame
  view.now = () => replayed(store.get("actions"), read(store, ["n_pages", "page", "longest"]));
  view.act = (action) => {
    const actions = store.get("actions");
    const most = actions.length >= MOST_ACTIONS;
    view.alert.tell(most ? `${MOST_ACTIONS} actions are done: take some back, or reset.` : "");
    if (!most) store.set({ actions: [...actions, action] });
  };
  view.parts = [settings(view), picture(), texts(view), readout(store), table(view)];
  const [sliders, pool, tables, counted, folded] = nodes(view.parts);
  view.node = el("div", {}, sliders, view.alert.node, pool, tables, view.status, counted, folded);
  view.draw = () => {
    const pool = view.now();
    const now = { pool, pages: held(pool), texts: pool.texts, last: pool.last };
    view.parts.forEach((part) => part.show(now));
    setText(view.status, said(pool));
  };
  return view;
}

const full = (pool) => !pool.texts.includes(null);
const disabled = (node, on) => node.setAttribute("aria-disabled", on);

function settings(view) {
  const { store } = view;
  view.start = button("start a text", () => full(view.now()) || view.act("start"));
  const back = button(
    "take back",
    () => {
      view.alert.tell("");
      store.set({ actions: store.get("actions").slice(0, -1) });
    },
    { "aria-label": "take back the last action" },
  );
  const parts = [whole(store, "n_pages", "pages"), whole(store, "page", "rows in a page")];
  const show = (now) => {
    disabled(view.start, full(now.pool));
    disabled(back, store.get("actions").length === 0);
  };
  const node = el("div", "controls", nodes(parts), view.start, back, reset(view, "texts"));
  return together(node, [...parts, { show }]);
}

function whole(store, trait, label) {
  const slider = el("input", {
    type: "range",
    min: 1,
    max: MOST[trait],
    "aria-label": label,
    oninput: () => store.set({ [trait]: Number(slider.value) }),
  });
  const told = el("span", "value");
  const show = () => {
    slider.value = store.get(trait);
    setText(told, String(store.get(trait)));
  };
  return { node: el("div", "slide", el("span", { "aria-hidden": "true" }, label), slider, told), show };
}

/** The pool: each page with its rows, the texts that have it, and what was written last. */
function picture() {
  const pages = times(MOST.n_pages, (number) => {
    const cells = times(MOST.page, () => el("span", "row"));
    const owner = el("span", "owner");
    const node = el("li", {}, el("span", "which", `page ${number}`), el("span", "rows", cells), owner);
    return { node, cells, owner };
  });
  const node = el("ol", { class: "pool", "aria-label": "the pool" }, nodes(pages));
  const show = (now) => pages.forEach((one, number) => showPage(one, number, now));
  return { node, show };
}

function showPage({ node, cells, owner }, number, { pool, pages, last }) {
  node.hidden = number >= pages.length;
  if (node.hidden) return;
  const { texts, rows: used, first } = pages[number];
  const written = last?.verb === "write" && !last.error && last.page === number;
  mark(node, "free", texts.length === 0);
  mark(node, "now", written);
  setVar(node, "fill", filling(texts));
  setText(owner, texts.length === 0 ? "free" : `text ${texts.join(", ")}`);
  cells.forEach((cell, row) => {
    cell.hidden = row >= pool.page;
    mark(cell, "used", row < used);
    mark(cell, "now", written && row === last.row);
    setText(cell, row < used ? String(first + row) : "");
  });
}

/** The colours of a page's texts, one below another. */
function filling(texts) {
  const part = 100 / texts.length;
  const colours = texts.map((text, place) => {
    const colour = `color-mix(in srgb, var(--attnbook-head-${text - 1}) 30%, var(--attnbook-paper))`;
    return `${colour} ${place * part}% ${(place + 1) * part}%`;
  });
  return texts.length === 0 ? "none" : `linear-gradient(${colours.join(", ")})`;
}

const headed = (...names) => names.map((name) => (name ? el("th", { scope: "col" }, name) : el("td")));

/** Each text's table of pages, and what can be done with it. */
function texts(view) {
  const heads = headed("text", "tokens", "its page → the pool’s", "");
  const lines = times(TEXTS, (at) => line(view, at + 1));
  const none = el("p", "note", "No text is being written.");
  const place = scroller("The texts and their tables", tableOf(heads, nodes(lines)));
  const show = (now) => {
    place.hidden = now.texts.every((text) => !text);
    none.hidden = !place.hidden;
    lines.forEach((one) => one.show(now));
  };
  return { node: el("div", {}, place, none), show };
}

function line(view, text) {
  const there = () => view.now().texts[text - 1];
  const act = (verb, may = there) => may() && view.act(`${verb} ${text}`);
  const write = button("write a token", () => act("write"), { "aria-label": `write a token of text ${text}` });
  const fork = button("fork", () => act("fork", () => there() && !full(view.now())), {
    "aria-label": `fork text ${text}`,
  });
  const end = button(
    "end",
    () => {
      act("end");
      view.start.focus(); // its own line goes
    },
    { "aria-label": `end text ${text}` },
  );
  const [count, table] = [el("td"), el("td", "table")];
  const name = el("span", "name", `text ${text}`);
  setVar(name, "c", `var(--attnbook-head-${text - 1})`);
  const head = el("th", { scope: "row" }, name);
  const buttons = [write, fork, end];
  const node = el("tr", {}, head, count, table, el("td", {}, el("span", "actions", buttons)));
  oneStop(node, buttons);
  const show = ({ pool, texts: all }) => {
    const one = all[text - 1];
    node.hidden = !one;
    setText(count, one ? String(one.length) : "");
    setText(table, one ? arrows(one.table) : "");
    disabled(fork, full(pool));
  };
  return { node, show };
}

const arrows = (table) => table.map((page, place) => `${place} → ${page}`).join(", ") || "none";

/** Rows in use and reserved, in pages and in one piece. */
function readout(store) {
  const heads = headed("", "rows in use", "reserved", "unused");
  const longest = store.get("longest");
  const lines = ["in pages", `in one piece of ${longest} rows each`].map((name) => {
    const cells = times(3, () => el("td"));
    return { node: el("tr", {}, el("th", { scope: "row" }, name), cells), cells };
  });
  const node = scroller("What is reserved", tableOf(heads, nodes(lines)));
  const show = ({ pool }) =>
    rows(pool).forEach(([used, reserved], at) => {
      const share = reserved ? `${Math.round((100 * (reserved - used)) / reserved)} %` : "–";
      [used, reserved, share].forEach((value, c) => setText(lines[at].cells[c], String(value)));
    });
  return { node, show };
}

const counted = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

/** What the last action did. */
function said(pool) {
  const { last, lost, users } = pool;
  const more = lost > 1 ? ` ${lost} tokens have not been written.` : "";
  if (!last) return `No text yet; all ${counted(users.length, "page")} free.`;
  const name = `Text ${last.text}`;
  if (last.verb === "start") return `${name} starts. Its first token will take a page.${more}`;
  if (last.verb === "fork") {
    const shared = counted(pool.texts[last.other - 1].table.length, "page");
    return `Text ${last.other} goes on from text ${last.text} and shares its ${shared}: nothing is copied.${more}`;
  }
  if (last.verb === "end") {
    const kept = last.page - last.given;
    const rest = kept ? `; ${kept === 1 ? "1 is" : `${kept} are`} still another text’s` : "";
    return `${name} ended: ${counted(last.given, "page")} given back${rest}.${more}`;
  }
  if (last.error) return `${name}’s token is not written: ${last.error}.${more}`;
  const token = pool.texts[last.text - 1].length - 1;
  const where = `${name}: token ${token} lies in page ${last.page}, row ${last.row}`;
  if (last.copied !== undefined) return `${where}, of a copy: page ${last.copied} is shared and not full.${more}`;
  return `${where}${last.taken ? ", of a page just taken" : ""}.${more}`;
}

const table = (view) =>
  twin("The pool, page by page", () => [
    ["page", "rows in use", "tokens", "texts"],
    ...held(view.now()).map(({ texts: users, rows: used, first }, page) => [
      `page ${page}`,
      String(used),
      used ? `${first}${used > 1 ? ` to ${first + used - 1}` : ""}` : "–",
      users.length ? listed(users.map(String)) : "free",
    ]),
  ]);

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "Texts in the pages of a pool", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
