import { expect } from "vitest";
import { Stage, type Claims } from "./stage.js";

const DAY = 24 * 60 * 60 * 1_000;

/** A bucket of texts in memory. */
function bucket(): { readonly files: Map<string, string>; put(name: string, text: string): Promise<void> } & object {
  const files = new Map<string, string>();
  return {
    files,
    put: async (name, text) => void files.set(name, text),
    get: async (name: string) => (files.has(name) ? { text: async () => files.get(name) } : null),
    delete: async (name: string) => void files.delete(name),
  } as ReturnType<typeof bucket>;
}

export const bindings: Readonly<Record<string, Claims>> = {
  "mailer.ts": {
    "sends with the secret": async (example) => {
      const stage = new Stage(example, { env: { MAIL_KEY: "a secret of the tests" } });
      expect(await stage.actor("mailer").call("send", "ada@example.com")).toBe(true);
      expect(stage.calls[0]?.headers["authorization"]).toBe("Bearer a secret of the tests");
    },
  },
  "statements.ts": {
    "keeps a file for as long as the variable said when it was written": async (example) => {
      const STATEMENTS = bucket();
      const env = { STATEMENTS, KEEP_DAYS: "30" };
      const statement = new Stage(example, { env }).actor("statement", "ada");
      await statement.call("read");
      expect([...STATEMENTS.files]).toEqual([["ada.txt", "Nothing is owed."]]);
      expect(await statement.call("read")).toBe("Nothing is owed.");
      env.KEEP_DAYS = "1";
      statement.crash();
      await statement.world.pass(29 * DAY);
      expect(STATEMENTS.files.size).toBe(1);
      await statement.world.pass(DAY);
      expect(STATEMENTS.files.size).toBe(0);
    },
  },
};
