import type { Store, StoreActivation } from "../ports.js";

/** A store that knows its latest activation, so that what is stored can be read without beginning another one. */
export class CurrentStore implements Store {
  readonly #store: Store;
  #last: StoreActivation | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  activate(): StoreActivation {
    return (this.#last = this.#store.activate());
  }

  /** For reading only. */
  get current(): StoreActivation {
    return this.#last?.isCurrent ? this.#last : this.activate();
  }
}
