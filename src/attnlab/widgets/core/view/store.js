// Where a widget's state lives. One interface, two places: get(name), set({name: value, …}),
// on(names, listener) which returns a function that stops listening. A view writes only when the
// reader acts and draws only when told of a change, so two views of one state never fight.

/** @import { Store } from "../types.d.ts" */

/** In Jupyter and Colab the state is anywidget's model, and Python sees every change. @type {(model: any) => Store} */
export function modelStore(model) {
  return {
    get: (name) => model.get(name),
    set(changes) {
      for (const [name, value] of Object.entries(changes)) model.set(name, value);
      model.save_changes();
    },
    on(names, listener) {
      for (const name of names) model.on(`change:${name}`, listener);
      return () => names.forEach((name) => model.off(`change:${name}`, listener));
    },
  };
}

/** In a static page it is the JSON that the page carries. @type {(state: Record<string, any>) => Store} */
export function plainStore(state) {
  const listeners = new Set();
  return {
    get: (name) => state[name],
    set(changes) {
      const changed = Object.keys(changes).filter((name) => state[name] !== changes[name]);
      Object.assign(state, changes);
      for (const { names, listener } of listeners) {
        if (changed.some((name) => names.includes(name))) listener();
      }
    },
    on(names, listener) {
      const entry = { names, listener };
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
  };
}

/** Several traits at once, by their names. @type {(store: Store, names: string[]) => any} */
export const read = (store, names) => Object.fromEntries(names.map((name) => [name, store.get(name)]));
