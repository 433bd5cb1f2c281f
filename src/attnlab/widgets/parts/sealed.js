// A sealed question in a notebook: opened in the page, so that Python never holds its answer.

/**
 * What `teaching/kit/seal.py` writes: eight hexadecimal digits that begin the stream, and the JSON under it.
 * @type {(text: string) => Record<string, any>}
 */
function opened(text) {
  let x = Number.parseInt(text.slice(0, 8), 16) | 1;
  const bytes = Uint8Array.from(atob(text.slice(8)), (letter) => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return letter.charCodeAt(0) ^ (x & 255);
  });
  return JSON.parse(new TextDecoder().decode(bytes));
}

/**
 * anywidget's entry for a sealed question: its kind's own, on a model of what was sealed and of
 * what the reader has moved since.
 * @param {(context: {model: any, el: HTMLElement}) => () => void} render
 */
export const unsealing =
  (render) =>
  ({ model, el }) => {
    const state = opened(model.get("text"));
    const get = (name) => model.get("moved")[name] ?? state[name];
    const heard = new Map();
    return render({
      el,
      model: {
        get,
        set: (name, value) => model.set("moved", { ...model.get("moved"), [name]: value }),
        save_changes: () => model.save_changes(),
        on(event, listener) {
          const name = event.replace("change:", "");
          let last = get(name);
          const told = () => {
            if (last === get(name)) return; // another of the question's traits was moved
            last = get(name);
            listener();
          };
          heard.set(listener, [...(heard.get(listener) ?? []), told]);
          model.on("change:moved", told);
        },
        off(_, listener) {
          for (const told of heard.get(listener) ?? []) model.off("change:moved", told);
          heard.delete(listener);
        },
      },
    });
  };
