import { actor, setup } from "../../src/entry/index.js";

/** Fixture actors of the Worker in `worker.ts`, for tests that bring none of their own. */
export const counter = actor({
  state: { n: 0 },
  actions: {
    add: (c, by: number) => {
      c.state.n += by;
      return c.state.n;
    },
    get: (c) => c.state.n,
  },
});

export const registry = setup({ use: { counter } });
