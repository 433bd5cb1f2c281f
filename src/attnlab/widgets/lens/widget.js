// A prompt on its way through a language model: what the output would say after each layer, and what
// each layer's two parts add to the word that is said at last. What is shown was recorded.

import { within } from "../core/maths/lists.js";
import {
  alertLine,
  button,
  choice,
  el,
  nodes,
  pressed,
  reset,
  setText,
  setVar,
  statusLine,
  twin,
} from "../core/view/dom.js";
import { stepKeys, stepper } from "../core/view/stepper.js";
import { chart } from "./draw.js";
import { at, last, opening } from "./maths.js";
import { cells, names, said, shown, stage } from "./words.js";

const data = ["prompts", "initial"];
const state = ["prompt", "step", "token"];

const PACE = 450; // milliseconds a layer

function build(store) {
  /** @type {any} */
  const view = { store, alert: alertLine(), status: statusLine(), playing: 0 };
  view.pause = () => {
    clearInterval(view.playing);
    view.playing = 0;
  };
  view.go = (step) => {
    view.pause();
    store.set({ step });
    view.draw();
  };
  const parts = [settings(view), sentence(view), chart(), twin("Layer by layer", () => cells(view.now))];
  const [top, tokens, drawing, folded] = nodes(parts);
  view.node = el("div", {}, top, tokens, view.status, drawing, el("div", "foot", folded));
  view.draw = () => {
    view.now = worked(store);
    for (const part of parts) part.show(view.now);
    setText(view.status, said(view.now));
  };
  view.attach = () => view.pause;
  return view;
}

/** Everything that follows from the state. */
function worked(store) {
  const [prompt, step, token] = state.map((name) => store.get(name));
  const one = store.get("prompts")[prompt];
  const steps = one.chance.length - 1;
  const place = within(token, one.tokens.length - 1);
  return { one, prompt, steps, step: within(step, steps), token: place, final: last(one, place) };
}

function settings(view) {
  const { store } = view;
  const prompts = store.get("prompts");
  const end = () => prompts[store.get("prompt")].chance.length - 1;
  const tick = () => {
    const step = store.get("step");
    if (step >= end()) {
      view.pause();
      view.draw();
    } else store.set({ step: step + 1 });
  };
  const play = button("play", () => {
    const { playing } = view;
    view.go(!playing && store.get("step") >= end() ? 0 : store.get("step"));
    if (!playing) {
      view.playing = setInterval(tick, PACE);
      view.draw();
    }
  });
  const steps = stepper({
    what: "layers",
    inner: play,
    last: end,
    at: () => store.get("step"),
    go: view.go,
    told: () => stage(view.now.step),
  });
  const choose = choice("prompt", names(prompts), (prompt) => {
    view.pause();
    const token = prompts[prompt].tokens.length - 1;
    store.set({ prompt, token, step: opening(prompts[prompt], token) });
  });
  const show = (now) => {
    choose.show(now.prompt);
    setText(play, view.playing ? "pause" : "play");
    steps.show();
  };
  const node = el("div", "controls", choose.node, steps.node, reset(view, "prompt", view.pause));
  return { node, show };
}

/** The prompt's tokens, under each what would be said after it. */
function sentence({ store }) {
  const go = (token) => store.set({ token });
  const row = el("ol", {
    class: "reading",
    onkeydown: stepKeys((change) => {
      const place = within(store.get("token") + change, row.children.length - 1);
      go(place);
      row.children[place].firstChild.focus();
    }),
  });
  let before = null;
  const show = ({ one, step, token }) => {
    if (before !== one) {
      before = one;
      const press = (_, place) =>
        el(
          "li",
          {},
          button("", () => go(place)),
          el("span", "guess"),
        );
      row.replaceChildren(...one.tokens.map(press));
    }
    one.tokens.forEach((text, place) => {
      const [name, guess] = row.children[place].childNodes;
      const [first] = at(one, step, place);
      setText(name, shown(text));
      pressed(name, place === token);
      name.tabIndex = place === token ? 0 : -1;
      setText(guess, shown(first.name));
      setVar(guess, "share", first.chance);
    });
  };
  return { node: row, show };
}

/** @type {import("../core/types.d.ts").Kind} */
export const widget = { name: "The lens", build, data, state, drawsTable: true };
export * as maths from "./maths.js";
