import { createClient } from "rivetkit/client";
import { expect } from "vitest";
import { bindingOf, serve } from "./deploying.js";
import { platformEnv, Stage, type Claims, type Example } from "./stage.js";

export const moving: Readonly<Record<string, Claims>> = {
  "counter.ts": {
    counts: async (example) => {
      expect(await new Stage(example).actor("counter").call("add", 2)).toBe(2);
    },
  },
  "typed-worker.ts": {
    "serves the counter": async (worker, blocks) => {
      const fetch = serve(new Stage(blocks["counter.ts"] as Example), worker);
      expect(
        await createClient<any>({ endpoint: "https://example.com", fetch }).counter.getOrCreate("main").add(7),
      ).toBe(7);
    },
  },
  "mounted.ts": {
    "serves actors below its path, and routes beside it that reach them over the binding": async (worker, blocks) => {
      const stage = new Stage(blocks["counter.ts"] as Example);
      platformEnv["ACTORS"] = bindingOf(stage);
      const fetch = serve(stage, worker);
      expect(await (await fetch("https://example.com/add/5", { method: "POST" })).json()).toEqual({ value: 5 });
      expect(
        await createClient<any>({ endpoint: "https://example.com/api/rivet", fetch })
          .counter.getOrCreate("main")
          .add(2),
      ).toBe(7);
      expect(await (await fetch("https://example.com/value", {})).json()).toEqual({ value: 7 });
    },
  },
};
