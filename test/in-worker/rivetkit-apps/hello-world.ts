import { actor, event, setup } from "rivetkit";

export const counter = actor({
  state: { count: 0 },
  events: { newCount: event<number>() },
  actions: {
    increment: (c, by: number) => {
      c.state.count += by;
      c.broadcast("newCount", c.state.count);
      return c.state.count;
    },
    getCount: (c) => c.state.count,
  },
});

// As an app starts its server; here a Worker serves it.
setup({ use: { counter } }).start();
