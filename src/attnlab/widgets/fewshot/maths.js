// Which lines stand before the question, and what is known of the answers.

/** The examples that are read; exchanged, each stands before the answer to the next. @type {(shown: string[][], count: number, exchanged: boolean) => string[][]} */
export function examples(shown, count, exchanged) {
  const some = shown.slice(0, count);
  return exchanged ? some.map(([one], at) => [one, some[(at + 1) % count][1]]) : some;
}

/** What is known of each word: by count, then from two on by count with the answers exchanged. @type {(task: any, count: number, exchanged: boolean) => any[]} */
export const row = ({ shown, rows }, count, exchanged) =>
  rows[exchanged && count > 1 ? count + shown.length - 1 : count];

/** Whether each word gets its answer. @type {(task: any, found: any[]) => boolean[]} */
export const right = ({ asked }, found) => found.map(({ said }, at) => said === asked[at][1]);
