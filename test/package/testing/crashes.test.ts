// crashes.test.ts
import { crashEverywhere } from "perdure/testing";
import { expect, test } from "vitest";
import { registry } from "./order.js";

test("whenever the process dies, an order is paid for, insured and announced once", async () => {
  let done = new Map<string, string>();
  await crashEverywhere(registry, {
    async run(world) {
      done = new Map();
      // The services do not do again what comes with a key that they know.
      world.fetch.on("https://api.example.com/*", (request) => {
        const key = request.headers.get("idempotency-key") ?? crypto.randomUUID();
        done.set(key, new URL(request.url).pathname);
        return { id: "id_1" };
      });
      await world.client.order.getOrCreate("o-1").send("approvals", { by: "ada" });
      await world.advance("3 days");
    },
    check: () => expect([...done.values()]).toEqual(["/charges", "/policies", "/mails"]),
  });
});
