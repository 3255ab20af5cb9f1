import { createClient } from "perdure/client";
import type { WorldActor } from "../../src/testing/index.js";
import { expect } from "vitest";
import { parseObjectName } from "../../src/protocol/index.js";
import { codeOf, Stage, type Claims, type Example } from "./stage.js";

/** A Worker's answer, with the actors of a stage behind the binding ACTORS. */
export function serve(
  stage: Stage,
  worker: Example,
  env: object = {},
): (url: string, init: RequestInit) => Promise<Response> {
  const ACTORS = bindingOf(stage);
  return async (url, init) => {
    if (!worker.default) throw new Error("The example has no default export");
    return worker.default.fetch(new Request(url, init), { ACTORS, ...env }, {});
  };
}

/** The actors of a stage as the binding ACTORS. */
export function bindingOf({ world }: Stage): object {
  return {
    idFromName: (text: string) => {
      const { name, key } = parseObjectName(text) ?? { name: "", key: [] };
      return world.actor(name, key);
    },
    idFromString: (id: string) => world.actors.find(({ objectId }) => objectId === id),
    get: (actor: WorldActor) => ({ call: (envelope: never) => actor.deliver(envelope) }),
  };
}

const ENDPOINT = "https://my-app.example.workers.dev";

export const deploying: Readonly<Record<string, Claims>> = {
  "visits.ts": {
    counts: async (example) => {
      expect(await new Stage(example).actor("visits").call("add", 2)).toBe(2);
    },
  },
  "own-routes.ts": {
    "shows its own routes, and nothing else": async (worker, blocks) => {
      const request = serve(new Stage(blocks["visits.ts"] as Example), worker);
      await request(`${ENDPOINT}/visits/home`, { method: "POST" });
      const response = await request(`${ENDPOINT}/visits/home`, { method: "POST" });
      expect(await response.json()).toEqual({ visits: 2 });
      const gateway = `${ENDPOINT}/gateway/visits/action/add?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=home`;
      expect((await request(gateway, { method: "POST", body: '{"args":[1]}' })).status).toBe(404);
    },
  },
  "guarded.ts": {
    "lets those in who know the key; others get auth/unauthorized": async (worker, blocks) => {
      const fetch = serve(new Stage(blocks["visits.ts"] as Example), worker, { API_KEY: "secret" });
      const visitsOf = (key: string) =>
        createClient<any>({ endpoint: `${ENDPOINT}/actors`, token: key, fetch }).visits.getOrCreate("home");
      expect(await visitsOf("secret").add(1)).toBe(1);
      expect(await codeOf(visitsOf("guess").add(1))).toBe("auth/unauthorized");
      expect(await codeOf(visitsOf("guess").resolve())).toBe("auth/unauthorized");
      expect(await visitsOf("secret").add(1)).toBe(2);
      expect(await (await fetch(`${ENDPOINT}/`, {})).text()).toBe("Hello");
    },
    "answers a browser's preflight, and no page of strangers": async (worker, blocks) => {
      const request = serve(new Stage(blocks["visits.ts"] as Example), worker, { API_KEY: "secret" });
      const preflight = (origin: string) =>
        request(`${ENDPOINT}/actors/gateway/visits/action/add`, { method: "OPTIONS", headers: { origin } });
      expect((await preflight("https://app.example.com")).headers.get("access-control-allow-origin")).toBe(
        "https://app.example.com",
      );
      expect((await preflight("https://evil.example.com")).headers.get("access-control-allow-credentials")).toBe(null);
      const called = (origin: string) =>
        request(`${ENDPOINT}/actors/gateway/visits/action/add`, {
          method: "POST",
          headers: { origin, "x-rivet-token": "secret" },
        });
      expect([
        (await called("https://app.example.com")).status,
        (await called("https://evil.example.com")).status,
      ]).toEqual([400, 403]);
    },
  },
};
