// A pool of pages and the texts in it, as the package's PagePool and PagedCache have them.

import { times } from "../core/maths/lists.js";

/** Texts at once. */
export const TEXTS = 4;

/**
 * @typedef {{length: number, table: number[]}} Text
 * @typedef {{verb: string, text: number, error?: string, page?: number, row?: number, taken?: boolean, copied?: number, other?: number, given?: number}} Done
 * @typedef {{users: number[], texts: (Text|null)[], page: number, longest: number, last: Done|null, lost: number}} Pool
 */

/** What follows from all actions, one after another: the pool, the texts (null: none of this number), what the last did, how many tokens were not written. @type {(actions: string[], given: {n_pages: number, page: number, longest: number}) => Pool} */
export function replayed(actions, { n_pages, page, longest }) {
  /** @type {Pool} */
  const pool = { users: times(n_pages, () => 0), texts: times(TEXTS, () => null), page, longest, last: null, lost: 0 };
  for (const action of actions) {
    const [verb, text] = action.split(" ");
    pool.last = { verb, text: Number(text ?? 0), ...DO[verb](pool, Number(text) - 1) };
    if (pool.last.error) pool.lost += 1;
  }
  return pool;
}

const DO = { start, write, fork, end };

/** The lowest free place gets the text. */
function placed(pool, text) {
  const at = pool.texts.indexOf(null);
  pool.texts[at] = text;
  return at + 1;
}

function start(pool) {
  return { text: placed(pool, { length: 0, table: [] }) };
}

/** A token goes into the last page, into a copy of it where others have it too, or into a new one. */
function write(pool, at) {
  const { users, texts, page, longest } = pool;
  const { length, table } = texts[at];
  if (length >= longest) return { error: `${longest} tokens are the longest text` };
  const row = length % page;
  const old = table[table.length - 1];
  const shared = row > 0 && users[old] > 1;
  if (row > 0 && !shared) {
    texts[at].length += 1;
    return { page: old, row };
  }
  const taken = users.indexOf(0);
  if (taken < 0) return { error: `the pool has no free page: all ${users.length} are in use` };
  users[taken] = 1;
  if (shared) users[table.pop()] -= 1;
  table.push(taken);
  texts[at].length += 1;
  return { page: taken, row, taken: true, ...(shared ? { copied: old } : {}) };
}

function fork(pool, at) {
  const { length, table } = pool.texts[at];
  for (const one of table) pool.users[one] += 1;
  return { other: placed(pool, { length, table: [...table] }) };
}

function end(pool, at) {
  const { table } = pool.texts[at];
  for (const one of table) pool.users[one] -= 1;
  pool.texts[at] = null;
  return { page: table.length, given: table.filter((one) => pool.users[one] === 0).length };
}

/** Each page: the texts that have it, by number, the rows that hold a token, and the position of its first. @type {(pool: Pool) => {texts: number[], rows: number, first: number}[]} */
export function held({ users, texts, page }) {
  const all = users.map(() => ({ texts: [], rows: 0, first: 0 }));
  texts.forEach((text, at) =>
    text?.table.forEach((one, place) => {
      const first = place * page;
      const rows = Math.min(page, text.length - first);
      all[one] = { texts: [...all[one].texts, at + 1], rows: Math.max(rows, all[one].rows), first };
    }),
  );
  return all;
}

/** Rows in use and rows reserved: in pages, and with the longest length for each text. @type {(pool: Pool) => number[][]} */
export function rows(pool) {
  const [pages, alive] = [held(pool).filter(({ texts }) => texts.length), pool.texts.filter((text) => text)];
  const sum = (list) => list.reduce((soFar, one) => soFar + one, 0);
  return [
    [sum(pages.map((one) => one.rows)), pool.page * pages.length],
    [sum(alive.map((text) => text.length)), pool.longest * alive.length],
  ];
}
