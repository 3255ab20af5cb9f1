import { env } from "cloudflare:workers";
import { actor, setup } from "perdure";

/** What the platform's module has when this one is loaded. */
export const atLoad: string[] = Object.keys(env);

export const greeter = actor({
  actions: {
    greet: async (c) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return [(env as { GREETING?: string }).GREETING, env === c.env, Object.keys(c.env), Date.now()];
    },
  },
});

export const registry = setup({ use: { greeter } });
