import { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { actor, db, type AnyActorDefinition } from "../../../src/actor/index.js";
import { single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- callbacks of all kinds share one signature here
type Context = any;

describe("c.saveState()", () => {
  const saved: unknown[] = [];
  const subject = (): ReturnType<typeof single> =>
    single(
      actor({
        state: { n: 0 },
        actions: {
          /** Changes the state, saves it, and never ends. */
          save: async (c, options?: object) => {
            c.state.n += 1;
            saved.push(await c.saveState(options as never));
            await new Promise(() => {});
          },
          try: (c, options: unknown) =>
            c.saveState(options as never).then(
              () => "saved",
              (error: { group: string; code: string; message: string }) =>
                `${error.group}/${error.code}: ${error.message}`,
            ),
          get: (c) => c.state.n,
        },
      }),
    );

  it.each([undefined, {}, { immediate: true }, { immediate: false }, { maxWait: 0 }, { maxWait: 60_000 }])(
    "has made the commit when it resolves, with %j too: a crash then loses nothing (B6, B7)",
    async (options) => {
      const { world, subject: saving } = subject();
      await saving.call("get");
      saved.splice(0);
      saving.call("save", options).catch(() => {});
      await world.turn();
      await world.turn();
      expect(saved).toEqual([undefined]);
      saving.crash();
      expect(await saving.call("get")).toBe(1);
    },
  );

  it("refuses options that are none, and saves nothing then", async () => {
    const { subject: refusing } = subject();
    for (const maxWait of [-1, Number.NaN, Number.POSITIVE_INFINITY, "1000", null]) {
      expect(await refusing.call("try", { maxWait }), String(maxWait)).toMatch(/^actor\/invalid_option: `maxWait`/);
    }
    expect(await refusing.call("try", { immediate: "yes" })).toMatch(/^actor\/invalid_option: `immediate`/);
    for (const options of [5, "now", null, true])
      expect(await refusing.call("try", options), String(options)).toMatch(/^actor\/invalid_option: The options/);
  });
});

describe("c.log", () => {
  it("takes fields or a text at six levels", async () => {
    const levels = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
    const { subject, log } = single(
      actor({
        actions: {
          log: (c) => {
            for (const level of levels) c.log[level]({ msg: level, n: 1 });
            c.log.info("a text");
          },
        },
      }),
    );
    await subject.call("log");
    const who = { actor: "subject", key: ["k"], actorId: expect.any(String) as unknown, action: "log" };
    expect(log).toEqual([
      ...levels.map((level) => ({ level, entry: { ...who, msg: level, n: 1 } })),
      { level: "info", entry: { ...who, msg: "a text" } },
    ]);
  });
});

describe("c.env", () => {
  const env = { MAIL_KEY: "a secret", BUCKET: { get: () => "a file" } };
  const envOf = (definition: AnyActorDefinition, options = {}): ReturnType<typeof single> =>
    single(definition, options);

  it("is what the world gives, the same in each callback", async () => {
    const seen: unknown[] = [];
    const { subject } = envOf(
      actor({
        createState: (c) => (seen.push(c.env), {}),
        run: async (c) => void seen.push(c.env),
        actions: { act: (c) => void seen.push(c.env) },
      }),
      { env },
    );
    await subject.call("act");
    expect(seen).toHaveLength(3);
    for (const one of seen) expect(one).toBe(env);
  });

  it("has no members where the world gives none", async () => {
    const { subject } = envOf(actor({ actions: { names: (c) => Object.keys(c.env) } }));
    expect(await subject.call("names")).toEqual([]);
  });

  it("is not in what a context that is logged or stringified shows, nor in any log line", async () => {
    const shown: string[] = [];
    const { subject, log } = envOf(
      actor({
        actions: {
          show: (c) => {
            shown.push(JSON.stringify(c), inspect(c, { depth: 9, showHidden: true, getters: false }));
            c.log.info({ msg: "here", c });
            throw new Error("masked");
          },
        },
      }),
      { env },
    );
    await expect(subject.call("show")).rejects.toThrow();
    expect(JSON.stringify([shown, log])).not.toContain("a secret");
  });

  it("cannot be assigned", async () => {
    const { subject } = envOf(
      actor({
        actions: {
          assign: (c) => {
            try {
              (c as { env: unknown }).env = {};
              return "assigned";
            } catch (error) {
              return (error as Error).name;
            }
          },
        },
      }),
    );
    expect(await subject.call("assign")).toBe("TypeError");
  });
});

describe("members of a context", () => {
  /** What each callback finds for each member: that it exists, or the code of its error. */
  const find = (c: Context): string =>
    ["state", "vars", "conn", "conns", "queue", "schedule", "cron", "kv", "db", "broadcast", "client", "env"]
      .map((member) => {
        try {
          return c[member] === undefined ? `no ${member}` : member;
        } catch (error) {
          return `${member}: ${(error as { code: string }).code}`;
        }
      })
      .join(", ");
  const ALL = "state, vars, conn, conns, queue, schedule, cron, kv, db, broadcast, client, env";
  const WITHOUT_CONN = ALL.replace("conn,", "no conn,");

  it("are those of the documentation in every callback", async () => {
    const found: Record<string, string> = {};
    const note = (where: string) => (c: Context) => void (found[where] = find(c));
    const { world, subject } = single(
      actor({
        canCreate: note("canCreate"),
        createState: (c: Context) => {
          note("createState")(c);
          return { n: 0 };
        },
        createVars: (c: Context) => {
          note("createVars")(c);
          return {};
        },
        db: db(),
        onMigrate: (c: Context, isNew: boolean) => note(`onMigrate ${isNew ? "new" : "wake"}`)(c),
        onCreate: note("onCreate"),
        onWake: note("onWake"),
        run: async (c: Context) => note("run")(c),
        onBeforeConnect: note("onBeforeConnect"),
        createConnState: note("createConnState"),
        onConnect: note("onConnect"),
        onDisconnect: note("onDisconnect"),
        onStateChange: note("onStateChange"),
        onBeforeActionResponse: (c: Context, _name: string, _args: unknown[], output: unknown) => (
          note("onBeforeActionResponse")(c),
          output
        ),
        onRequest: (c: Context) => (note("onRequest")(c), new Response()),
        onSleep: note("onSleep"),
        onDestroy: note("onDestroy"),
        actions: {
          act: (c: Context) => {
            note("action")(c);
            c.state.n += 1;
          },
          plan: (c: Context) => c.schedule.after(1_000, "planned"),
          planned: note("scheduled action"),
          sleep: (c: Context) => c.sleep(),
          destroy: (c: Context) => c.destroy(),
        },
      } as never) as never,
      { openDatabase: () => new DatabaseSync(":memory:") },
    );
    await subject.call("act");
    await subject.call("plan");
    await subject.fetch("/");
    await world.pass(1_000);
    await subject.call("sleep");
    await world.settle();
    await subject.call("act");
    await subject.call("destroy");
    await world.settle();
    const beforeState = WITHOUT_CONN.replace("state, vars", "state: state_not_ready, vars: vars_not_ready");
    const beforeVars = WITHOUT_CONN.replace("vars", "vars: vars_not_ready");
    expect(found).toEqual({
      canCreate: beforeState,
      createState: beforeState,
      "onMigrate new": beforeState,
      "onMigrate wake": beforeVars,
      onCreate: beforeVars,
      createVars: beforeVars,
      onWake: WITHOUT_CONN,
      run: WITHOUT_CONN,
      onSleep: WITHOUT_CONN,
      onDestroy: WITHOUT_CONN,
      onStateChange: WITHOUT_CONN,
      onBeforeActionResponse: WITHOUT_CONN,
      onBeforeConnect: WITHOUT_CONN,
      createConnState: WITHOUT_CONN,
      onDisconnect: WITHOUT_CONN,
      "scheduled action": WITHOUT_CONN,
      action: ALL,
      onConnect: ALL,
      onRequest: ALL,
    });
  });
});
