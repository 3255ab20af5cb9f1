import { createClient } from "rivetkit/client";
import { expect } from "vitest";
import { serve } from "./deploying.js";
import { Stage, type Claims, type Example } from "./stage.js";

export const migrating: Readonly<Record<string, Claims>> = {
  "counter.ts": {
    "runs under the name rivetkit": async (example) => {
      const counter = new Stage(example).actor("counter");
      await counter.send("add", { by: 2 });
      counter.crash();
      await counter.send("add", { by: 3 });
      await counter.send("stop", { reason: "enough" });
      await counter.send("add", { by: 100 });
      expect(await counter.call("getValue")).toBe(5);
    },
  },
  "worker.ts": {
    "serves it": async (worker, blocks) => {
      const stage = new Stage(blocks["counter.ts"] as Example);
      const counter = createClient<any>({
        endpoint: "https://example.com",
        fetch: serve(stage, worker),
      }).counter.getOrCreate("main");
      await counter.send("add", { by: 7 });
      await stage.world.settle();
      expect(await counter.getValue()).toBe(7);
    },
  },
};
