import { createClient } from "perdure/client";
import { expect } from "vitest";
import { encodeInput, ENVELOPE_VERSION } from "../../src/protocol/index.js";
import { serve } from "./deploying.js";
import { codeOf, Stage, type Claims, type Example } from "./stage.js";

const ENDPOINT = "https://my-app.example.workers.dev";
const ENV = { SECRET: "of the tests", PASSWORD: "open sesame" };

interface Tokens {
  signToken(user: string, expiresAt: number, secret: string): Promise<string>;
  userOf(token: string | undefined, secret: string): Promise<string | undefined>;
}

export const authentication: Readonly<Record<string, Claims>> = {
  "tokens.ts": {
    "gives the user of a good token, and of no other": async (example) => {
      const { signToken, userOf } = example as unknown as Tokens;
      const later = Date.now() + 1000;
      const token = await signToken("a.d/a", later, "s");
      expect(await userOf(token, "s")).toBe("a.d/a");
      expect(await userOf(token, "t")).toBe(undefined);
      expect(await userOf(await signToken("ada", Date.now(), "s"), "s")).toBe(undefined);
      for (const forged of [
        undefined,
        "",
        "ada",
        token.replace("a.d", "b.d"),
        token.replace("a%2Ed", "b"),
        token.replace(/.$/, (digit) => (digit === "0" ? "1" : "0")),
        token.replace(/\.\d+\./, `.${later + 1}.`),
      ]) {
        expect(forged === token ? "the same" : await userOf(forged, "s"), forged).toBe(
          forged === token ? "the same" : undefined,
        );
      }
    },
  },
  "inbox.ts": {
    "keeps notes": async (example) => {
      expect(await new Stage(example).actor("inbox").call("note", "Buy tea")).toBe(1);
    },
  },
  "worker.ts": {
    "lets users into their own inbox only": async (worker, blocks) => {
      const stage = new Stage(blocks["inbox.ts"] as Example);
      const fetch = serve(stage, worker, ENV);
      const signIn = (user: string, password: string) =>
        fetch(`${ENDPOINT}/sign-in`, { method: "POST", body: JSON.stringify({ user, password }) });
      expect((await signIn("ada", "guess")).status).toBe(401);
      const { token } = (await (await signIn("ada", ENV.PASSWORD)).json()) as { token: string };
      const client = createClient<any>({ endpoint: ENDPOINT, token, fetch });
      const inbox = client.inbox.getOrCreate("ada");
      expect(await inbox.note("Buy tea")).toBe(1);
      const byId = client.inbox.getForId(await inbox.resolve());
      expect(await byId.note("Drink it")).toBe(2);
      expect(await codeOf(client.inbox.getOrCreate("bob").note("Hello"))).toBe("auth/forbidden");
      expect(await codeOf(client.inbox.create("bob"))).toBe("auth/forbidden");
      expect(
        await codeOf(createClient<any>({ endpoint: ENDPOINT, fetch }).inbox.getOrCreate("ada").note("Hello")),
      ).toBe("auth/unauthorized");
      const id = await inbox.resolve();
      const { token: bobs } = (await (await signIn("bob", ENV.PASSWORD)).json()) as { token: string };
      const bob = createClient<any>({ endpoint: ENDPOINT, token: bobs, fetch });
      expect(await codeOf(bob.inbox.getForId(id).note("Hello"))).toBe("auth/forbidden");
      expect(
        await codeOf(
          bob.inbox.getForId(id.replace(/.$/, (digit: string) => (digit === "0" ? "1" : "0"))).note("Hello"),
        ),
      ).toBe("auth/forbidden");
      expect(stage.world.actors.filter(({ store }) => store.rows > 0).map(({ key }) => key)).toEqual([["ada"]]);
    },
  },
  "invoice.ts": {
    "is made by whom it concerns, and charges nobody else": async (example) => {
      const stage = new Stage(example);
      const make = async (key: string, input: unknown, internal = false) => {
        const place = stage.world.actor("invoice", [key]);
        const reply = await place.deliver({
          v: ENVELOPE_VERSION,
          address: { name: "invoice", key: [key] },
          creation: { mode: "create", input: encodeInput(input) },
          operation: { kind: "resolve" },
          internal,
        });
        await stage.world.settle();
        return [reply.ok ? "ok" : `${reply.error.group}/${reply.error.code}`, place.store.keys.length > 0];
      };
      expect(await make("ada", { customer: "bob", cents: 5 })).toEqual(["auth/forbidden", false]);
      expect(await make("ada", { customer: "ada" })).toEqual(["user/no_amount", false]);
      expect(await make("ada", { customer: "ada", cents: 5 })).toEqual(["ok", true]);
      expect(await make("bob", { customer: "any", cents: 5 }, true)).toEqual(["ok", true]);
      expect(await stage.actor("invoice", "ada").call("isCharged")).toBe(true);
    },
  },
};
