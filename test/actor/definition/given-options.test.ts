import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { actor, setup } from "../../../src/actor/index.js";
import { db } from "../../../src/entry/db.js";
import { single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

/** Everything of a context that takes options, called with them. */
const CALLS: Record<string, readonly [code: string, call: (c: Any, options: object) => unknown]> = {
  "queue.next": ["queue/invalid_payload", (c, options) => c.queue.next({ timeout: 0, ...options })],
  "queue.nextBatch": ["queue/invalid_payload", (c, options) => c.queue.nextBatch({ timeout: 0, ...options })],
  "queue.tryNext": ["queue/invalid_payload", (c, options) => c.queue.tryNext(options)],
  "queue.tryNextBatch": ["queue/invalid_payload", (c, options) => c.queue.tryNextBatch(options)],
  "queue.waitForNames": [
    "queue/invalid_payload",
    (c, options) => c.queue.waitForNames(["a"], { timeout: 0, ...options }),
  ],
  "queue.iter": ["queue/invalid_payload", (c, options) => c.queue.iter({ timeout: 0, ...options }).next()],
  "queue.enqueueAndWait": [
    "queue/invalid_payload",
    (c, options) => c.queue.enqueueAndWait("q", 1, { timeout: 0, ...options }),
  ],
  saveState: ["actor/invalid_option", (c, options) => c.saveState(options)],
  "kv.get": ["kv/invalid_option", (c, options) => c.kv.get("k", options)],
  "kv.put": ["kv/invalid_option", (c, options) => c.kv.put("k", "v", options)],
  "kv.list": ["kv/invalid_option", (c, options) => c.kv.list("", options)],
  "kv.listRange": ["kv/invalid_option", (c, options) => c.kv.listRange("a", "b", options)],
  "cron.set": [
    "schedule/invalid_option",
    (c, options) => c.cron.set({ name: "j", expression: "* * * * *", action: "run", ...options }),
  ],
  "cron.every": [
    "schedule/invalid_option",
    (c, options) => c.cron.every({ name: "j", interval: 60_000, action: "run", ...options }),
  ],
  "cron.history": ["schedule/invalid_option", (c, options) => c.cron.history("j", options)],
  "db.transaction": ["sqlite/invalid_option", (c, options) => c.db.transaction(() => {}, options)],
};

function subject() {
  return single(
    actor({
      db: db(),
      state: 0,
      actions: {
        touch: () => {},
        run: async (c, what: string, options: object) => {
          const [, call] = CALLS[what] as (typeof CALLS)[string];
          return Promise.resolve()
            .then(() => call(c, options))
            .then(
              () => "done",
              (error: { group: string; code: string; message: string }) =>
                `${error.group}/${error.code}: ${error.message}`,
            );
        },
      },
    }),
    { openDatabase: () => new DatabaseSync(":memory:") },
  ).subject;
}

describe.each(Object.keys(CALLS))("%s", (what) => {
  it("refuses an option that does not exist, by name, and changes nothing", async () => {
    const s = subject();
    await s.call("touch");
    const { rows } = s.store;
    const answer = String(await s.call("run", what, { retries: 3 }));
    expect(answer).toContain(CALLS[what]?.[0]);
    expect(answer).toContain('no option "retries"');
    expect(s.store.rows).toBe(rows);
  });
});

describe("a timeout of a wait in the queue", () => {
  it.each(["queue.next", "queue.nextBatch", "queue.waitForNames", "queue.iter", "queue.enqueueAndWait"])(
    "of %s: negative is a poll, NaN and endless are refused",
    async (what) => {
      const s = subject();
      for (const timeout of [Number.NaN, Infinity, -Infinity, "5", null])
        expect(await s.call("run", what, { timeout }), String(timeout)).toContain("queue/invalid_payload");
      const polled = await s.call("run", what, { timeout: -5 });
      expect(polled).toBe(await s.call("run", what, { timeout: 0 }));
      expect(s.timersHeld).toBe(0);
    },
  );

  it("of enqueueAndWait: is at most a day", async () => {
    const s = subject();
    await s.call("touch");
    const { rows } = s.store;
    for (const timeout of [86_400_001, 2 ** 53, 1e300])
      expect(await s.call("run", "queue.enqueueAndWait", { timeout }), String(timeout)).toContain(
        "at most 86400000 ms",
      );
    expect(s.store.rows).toBe(rows);
  });
});

describe("setup()", () => {
  const use = { a: actor({}) };

  it.each(["actors", "maxIncomingMessage", "toString", "Use"])("refuses the key %s, which does not exist", (key) => {
    expect(() => setup({ use, [key]: 1 } as Any)).toThrow(new TypeError(`setup(): unknown key "${key}"`));
  });

  it("takes what RivetKit configures for its own servers, with a warning each", () => {
    const idle = {
      configurePool: {},
      endpoint: "https://x",
      envoy: {},
      namespace: "n",
      runtime: "wasm",
      serveManager: false,
      sqlite: {},
      startEngine: false,
      test: {},
      token: "secret",
      wasm: {},
    };
    const registry = setup({ use, noWelcome: true, serverless: { basePath: "/x" }, ...idle });
    expect(registry.warnings.map((entry) => (entry as { option: string }).option).sort()).toEqual(
      Object.keys(idle).sort(),
    );
    expect(JSON.stringify(registry.warnings)).not.toContain("secret");
  });
});
