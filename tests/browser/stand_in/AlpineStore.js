const stores = new Map();

/** A store that is Alpine's as soon as Alpine runs. */
export function createStore(name, state) {
  const start = () => Alpine.store(name, state);
  globalThis.Alpine ? start() : document.addEventListener("alpine:init", start);
  const at = () => globalThis.Alpine?.store(name) ?? state;
  const store = new Proxy(state, { get: (_, key) => at()[key], set: (_, key, value) => ((at()[key] = value), true) });
  stores.set(name, store);
  return store;
}

export const getStore = (name) => stores.get(name);
