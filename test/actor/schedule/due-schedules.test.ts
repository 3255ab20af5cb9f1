import { describe, expect, it } from "vitest";
import { actor, workflow, type ActorCron, type CronHistoryEntry } from "../../../src/actor/index.js";
import { decodeValue } from "../../../src/protocol/index.js";
import type { CommitFault } from "../../../src/testing/index.js";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "./cron-subject.js";
import { single, type Single } from "../subject.js";

/** An actor whose scheduled actions and jobs take a while, or kill their object. */
class Deadly {
  readonly single: Single;
  /** How often each began, in order of their first start. */
  readonly begun = new Map<string, number>();
  /** Set to stop the killing. */
  isTame = false;

  constructor({ fault, ...extra }: { readonly fault?: CommitFault; readonly [key: string]: unknown } = {}) {
    // oxlint-disable-next-line typescript/no-explicit-any -- the definition is put together from parts
    type Context = any;
    const actions = {
      plan: async (c: Context, at: number, ids: string[], lastsMs: number) => {
        for (const id of ids) await c.schedule.at(at, actionOf(id), id, lastsMs);
      },
      every: async (c: Context, interval: number, names: string[], lastsMs: number, maxHistory = 100) => {
        for (const name of names)
          await (c.cron as ActorCron).every({
            name,
            interval,
            action: actionOf(name),
            args: [name, lastsMs],
            maxHistory,
          });
      },
      last: async (c: Context, id: string, lastsMs: number) => {
        this.#count(id);
        await this.single.world.clock.delay(lastsMs);
        c.state.done[id] = (c.state.done[id] ?? 0) + 1;
      },
      kill: async (_: Context, id: string) => {
        this.#count(id);
        await this.kill(SECOND_MS);
      },
      done: (c: Context) => c.state.done,
      planned: async (c: Context) => (await c.schedule.list()).map(({ args }: { args: unknown[] }) => args[0]),
      cancelAll: async (c: Context) => {
        for (const { id } of await c.schedule.list()) await c.schedule.cancel(id);
      },
      history: (c: Context, name: string) => c.cron.history(name, { limit: 1_000 }),
      go: (c: Context) => c.queue.send("go", null),
      status: (c: Context) => c.workflow.status().status,
    };
    const options = fault ? { fault: (_: unknown, commit: number) => fault(commit) } : {};
    this.single = single(actor({ state: { done: {} as Record<string, number> }, actions, ...extra } as never), options);
  }

  get now(): number {
    return this.single.world.clock.now();
  }

  call(action: string, ...args: unknown[]): Promise<unknown> {
    return this.single.subject.call(action, ...args);
  }

  pass(durationMs: number): Promise<void> {
    return this.single.world.pass(durationMs);
  }

  /** Kills the process after a while; nothing runs after that. */
  async kill(afterMs: number): Promise<void> {
    await this.single.world.clock.delay(afterMs);
    if (this.isTame) return;
    this.single.subject.store.crashWithTurn();
    await new Promise(() => {});
  }

  async results(name: string): Promise<string[]> {
    return ((await this.call("history", name)) as CronHistoryEntry[]).map(({ result }) => result);
  }

  /** Ids of the schedules that were dropped. */
  get dropped(): unknown[] {
    return [
      ...new Set(
        this.single.log
          .filter(({ entry }) => JSON.stringify(entry).includes("is dropped"))
          .map(({ entry }) => entry["id"]),
      ),
    ];
  }

  /** The rows of all schedules and jobs, without times and arguments. */
  rows(): Record<string, unknown>[] {
    return [...this.single.subject.store.dump()]
      .filter(([key]) => key.startsWith("d/at/"))
      .map(([, bytes]) => {
        const { at: _at, args: _args, ...rest } = decodeValue(bytes) as Record<string, unknown>;
        return rest;
      });
  }

  #count(id: string): void {
    this.begun.set(id, (this.begun.get(id) ?? 0) + 1);
  }
}

function actionOf(id: string): string {
  return id.startsWith("kill") ? "kill" : "last";
}

describe("a scheduled action that keeps killing the object", () => {
  it("is the only one that is dropped, after ten cut-offs; all that are due with it run, and take effect once", async () => {
    const deadly = new Deadly();
    await deadly.call("plan", deadly.now + MINUTE_MS, ["a", "b", "kill", "c", "d"], 5 * SECOND_MS);
    await deadly.pass(2 * HOUR_MS);
    expect(await deadly.call("planned")).toEqual([]);
    expect(await deadly.call("done")).toEqual({ a: 1, b: 1, c: 1, d: 1 });
    // Once before it was suspect, ten times as a suspect; the others were cut off with it only the first time.
    expect(Object.fromEntries(deadly.begun)).toEqual({ a: 2, b: 2, kill: 11, c: 2, d: 2 });
    expect(deadly.dropped).toHaveLength(1);
    expect(deadly.single.subject.store.keys).toEqual(["a", "s"]);
    expect(deadly.single.subject.store.alarmAt).toBe(null);
  });

  it("is dropped with others of its kind, each after its own ten", async () => {
    const deadly = new Deadly();
    await deadly.call("plan", deadly.now + MINUTE_MS, ["kill 1", "a", "kill 2", "kill 3"], 5 * SECOND_MS);
    await deadly.pass(6 * HOUR_MS);
    expect(await deadly.call("planned")).toEqual([]);
    expect(await deadly.call("done")).toEqual({ a: 1 });
    expect(deadly.dropped).toHaveLength(3);
  });

  it("does not end a workflow that works beside it", async () => {
    const deadly: Deadly = new Deadly({
      run: workflow(async (ctx) => {
        await ctx.queue.next("go");
        // Outside any step, and inside one.
        await deadly.single.world.clock.delay(10 * MINUTE_MS);
        await ctx.step("long", () => deadly.single.world.clock.delay(20 * SECOND_MS));
      }),
    });
    await deadly.call("plan", deadly.now + MINUTE_MS, ["kill", "a"], 5 * SECOND_MS);
    await deadly.call("go");
    await deadly.pass(3 * HOUR_MS);
    expect(await deadly.call("status")).toBe("completed");
    expect([await deadly.call("planned"), await deadly.call("done"), deadly.dropped.length]).toEqual([[], { a: 1 }, 1]);
  });

  it("is not taken for one when it is a workflow that kills", async () => {
    const deadly: Deadly = new Deadly({
      run: workflow(async (ctx) => {
        await ctx.queue.next("go");
        await deadly.kill(SECOND_MS);
      }),
    });
    await deadly.call("plan", deadly.now + MINUTE_MS, ["a", "b", "c"], 3 * SECOND_MS);
    await deadly.pass(MINUTE_MS - SECOND_MS / 2);
    await deadly.call("go");
    await deadly.pass(3 * HOUR_MS);
    expect(await deadly.call("status")).toBe("failed");
    expect([await deadly.call("done"), deadly.dropped]).toEqual([{ a: 1, b: 1, c: 1 }, []]);
  });

  it("can be cancelled once it waits, and comes to its end once it kills no more", async () => {
    const deadly = new Deadly();
    await deadly.call("plan", deadly.now + MINUTE_MS, ["a", "kill 1", "kill 2"], SECOND_MS);
    await deadly.pass(MINUTE_MS + 50 * SECOND_MS);
    expect((await deadly.call("planned")) as string[]).not.toContain("a");
    deadly.isTame = true;
    await deadly.pass(HOUR_MS);
    expect([await deadly.call("planned"), deadly.dropped]).toEqual([[], []]);
    await deadly.call("plan", deadly.now + MINUTE_MS, ["kill 3", "kill 4"], SECOND_MS);
    deadly.isTame = false;
    await deadly.pass(MINUTE_MS + 5 * SECOND_MS);
    await deadly.call("cancelAll");
    await deadly.pass(HOUR_MS);
    expect([await deadly.call("planned"), deadly.dropped]).toEqual([[], []]);
  });
});

describe("a scheduled action that was cut off", () => {
  it("is marked before it runs again, and costs that one row more; before a cut-off nothing is marked", async () => {
    const deadly = new Deadly();
    await deadly.call("plan", deadly.now + MINUTE_MS, ["a"], 5 * SECOND_MS);
    await deadly.pass(MINUTE_MS + SECOND_MS);
    expect([deadly.begun.get("a"), deadly.rows()]).toEqual([1, [{ action: "last" }]]);
    deadly.single.subject.crash();
    await deadly.pass(3 * SECOND_MS);
    expect([deadly.begun.get("a"), deadly.rows()]).toEqual([2, [{ action: "last", running: true }]]);
    deadly.single.subject.crash();
    await deadly.pass(11 * SECOND_MS);
    expect([deadly.begun.get("a"), deadly.rows()]).toEqual([3, [{ action: "last", running: true, interrupted: 1 }]]);
    await deadly.pass(5 * SECOND_MS);
    expect([await deadly.call("done"), deadly.rows()]).toEqual([{ a: 1 }, []]);
  });

  it("runs one at a time with all others, and ten deploys that cut off others are not held against it", async () => {
    const deadly = new Deadly();
    await deadly.call(
      "plan",
      deadly.now + MINUTE_MS,
      ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"],
      5 * SECOND_MS,
    );
    await deadly.pass(MINUTE_MS);
    for (let deploys = 0; deploys < 12; deploys += 1) {
      deadly.single.subject.crash();
      await deadly.call("done");
      await deadly.pass(2 * SECOND_MS);
      expect(deadly.rows().filter(({ running }) => running)).toHaveLength(1);
    }
    await deadly.pass(HOUR_MS);
    expect(Object.keys((await deadly.call("done")) as object)).toHaveLength(12);
    expect(deadly.dropped).toEqual([]);
  });

  it("of an actor that always works is not dropped, though it was deployed ten times", async () => {
    const deadly: Deadly = new Deadly({
      run: async (c: { aborted: boolean }) => {
        while (!c.aborted) await deadly.single.world.clock.delay(20 * SECOND_MS);
      },
    });
    await deadly.call("done");
    for (let deploys = 0; deploys < 12; deploys += 1) {
      await deadly.pass(HOUR_MS);
      deadly.single.subject.crash();
    }
    await deadly.pass(HOUR_MS);
    await deadly.call("plan", deadly.now + MINUTE_MS, ["a"], SECOND_MS);
    await deadly.pass(10 * MINUTE_MS);
    expect(await deadly.call("done")).toEqual({ a: 1 });
  });

  it("has its effects once, and is the only one dropped, wherever the object dies beside", async () => {
    const program = async (fault?: CommitFault): Promise<Deadly> => {
      const deadly = new Deadly(fault ? { fault } : {});
      const at = deadly.now + MINUTE_MS;
      for (let tries = 0; tries < 3 && deadly.rows().length < 3; tries += 1) {
        await deadly.call("cancelAll").catch(() => undefined);
        await deadly.call("plan", at, ["a", "kill", "b"], 3 * SECOND_MS).catch(() => undefined);
      }
      await deadly.pass(3 * HOUR_MS);
      return deadly;
    };
    const { commits } = (await program()).single.subject.store;
    expect(commits).toBeGreaterThan(30);
    for (let at = 1; at <= commits; at += 1) {
      for (const kind of ["crash-before", "crash-after"] as const) {
        const deadly = await program((commit) => (commit === at ? kind : undefined));
        expect(
          [await deadly.call("done"), await deadly.call("planned"), deadly.dropped.length],
          `${kind} ${at}`,
        ).toEqual([{ a: 1, b: 1 }, [], 1]);
      }
    }
  });
});

describe("a recurring job that keeps killing the object", () => {
  it.each([[100], [0]])(
    "does not cut off those that are due with it, but for the first time (history of %i)",
    async (maxHistory) => {
      const deadly = new Deadly();
      await deadly.call("every", MINUTE_MS, ["a", "kill", "b"], 5 * SECOND_MS, maxHistory);
      await deadly.pass(10.5 * MINUTE_MS);
      expect(await deadly.call("done")).toEqual({ a: 9, b: 9 });
      expect(deadly.begun.get("kill")).toBe(10);
      for (const name of ["a", "b"])
        expect(await deadly.results(name)).toEqual(maxHistory === 0 ? [] : [...Array<string>(9).fill("ok"), "error"]);
    },
  );

  it("runs with the others again once it kills no more", async () => {
    const deadly = new Deadly();
    await deadly.call("every", MINUTE_MS, ["a", "kill"], 5 * SECOND_MS);
    await deadly.pass(3.5 * MINUTE_MS);
    deadly.isTame = true;
    await deadly.pass(MINUTE_MS);
    const job = decodeValue(deadly.single.subject.store.dump().get("d/cron/kill") as Uint8Array) as object;
    expect(job).not.toHaveProperty("interrupted");
    await deadly.pass(3 * MINUTE_MS);
    expect((await deadly.results("kill")).slice(0, 4)).toEqual(Array(4).fill("ok"));
    expect(await deadly.results("a")).toEqual([...Array<string>(6).fill("ok"), "error"]);
  });

  it("is not dropped, nor is a scheduled action that is due with it", async () => {
    const deadly = new Deadly();
    await deadly.call("every", MINUTE_MS, ["kill"], 0);
    await deadly.call("plan", deadly.now + MINUTE_MS, ["a", "b"], 5 * SECOND_MS);
    await deadly.pass(HOUR_MS);
    expect([await deadly.call("done"), await deadly.call("planned"), deadly.dropped]).toEqual([{ a: 1, b: 1 }, [], []]);
    expect((await deadly.results("kill")).length).toBeGreaterThan(30);
  });
});

describe("c.schedule", () => {
  it("shows what is documented, and nothing of the runtime", async () => {
    const { subject } = single(
      actor({
        actions: {
          members: (c) => {
            const found = new Set<string>();
            for (
              let object: object = c.schedule;
              object !== Object.prototype;
              object = Object.getPrototypeOf(object) as object
            ) {
              for (const key of Reflect.ownKeys(object)) found.add(String(key));
            }
            return [...found].sort();
          },
        },
      }),
    );
    expect(await subject.call("members")).toEqual(["after", "at", "cancel", "constructor", "get", "list"]);
  });
});
