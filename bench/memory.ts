import { actor, setup } from "perdure";
import { createHandler } from "perdure/cloudflare";

let release: () => void = () => {};
const released = new Promise<void>((resolve) => (release = resolve));

/** For bench/memory.mjs: many connections, calls that wait, events that nobody reads. */
const room = actor({
  options: { maxConnections: 9_500 },
  vars: { running: 0, most: 0 },
  actions: {
    count: (c) => c.conns.size,
    wait: async (c, text: string) => {
      c.vars.running += 1;
      c.vars.most = Math.max(c.vars.most, c.vars.running);
      await released;
      c.vars.running -= 1;
      return text.length;
    },
    release: (c) => {
      release();
      return c.vars.most;
    },
    tell: (c, text: string) => c.broadcast("told", text),
  },
});

const handler = createHandler(setup({ use: { room } }), { logLevel: "error" });
export const { ActorObject } = handler;
export default handler;
