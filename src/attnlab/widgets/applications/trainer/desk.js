// Where the training is done: in a worker, so that the page stays free; without one, in short slices
// on the page.

import { learner } from "./learner.js";

const SLICE = 10; // milliseconds, and then the page has its turn

/** The script of a worker: the learner's own text, from which nothing leads outside. */
const script = () =>
  `"use strict";const all=(${learner})();onmessage=({data})=>postMessage(all.finished(all.serve(data)));`;

function worker() {
  const url = URL.createObjectURL(new Blob([script()], { type: "text/javascript" }));
  const made = new Worker(url);
  URL.revokeObjectURL(url); // it has been asked for
  return made;
}

/** In slices on the page. */
function slices() {
  const all = learner();
  return (job, done) => {
    const work = all.serve(job);
    const slice = () => {
      const until = performance.now() + SLICE;
      let one = work.next();
      while (!one.done && performance.now() < until) one = work.next();
      if (one.done) done(one.value);
      else setTimeout(slice);
    };
    slice();
  };
}

/** One who does jobs, one at a time: `ask(job, done)`, and `close()`. */
export function desk() {
  let hand = null;
  let closed = false;
  let own = null; // what is done on the page
  const onPage = (job, done) => {
    own ??= slices();
    own(job, (found) => closed || done(found));
  };
  const ask = (job, done) => {
    if (own) return onPage(job, done);
    try {
      hand ??= worker();
    } catch {
      return onPage(job, done); // there are no workers, or a page may not have one
    }
    hand.onmessage = ({ data }) => done(data);
    hand.onerror = (event) => {
      event.preventDefault();
      onPage(job, done);
    };
    hand.postMessage(job);
  };
  const close = () => {
    closed = true;
    hand?.terminate();
  };
  return { ask, close };
}
