import { describe, expect, it } from "vitest";
import { actor } from "../../../src/actor/index.js";
import { single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

/** What a hook does that stores one thing more. */
const ADDS: Record<
  string,
  {
    readonly limit: object;
    readonly code: string;
    readonly add: (c: Any, n: number) => unknown;
    readonly drain: (c: Any) => unknown;
  }
> = {
  "schedule.after": {
    limit: { maxSchedules: 5 },
    code: "schedule/max_schedules_exceeded",
    add: (c) => c.schedule.after(1e9, "touch"),
    drain: async (c) => c.schedule.cancel((await c.schedule.list())[0].id),
  },
  "cron.every": {
    limit: { maxSchedules: 5 },
    code: "schedule/max_schedules_exceeded",
    add: (c, n) => c.cron.every({ name: `job ${n}`, interval: 1e9, action: "touch" }),
    drain: async (c) => c.cron.delete((await c.cron.list())[0].name),
  },
  "queue.send": {
    limit: { maxQueueSize: 5 },
    code: "queue/full",
    add: (c) => c.queue.send("jobs", "body"),
    drain: (c) => c.queue.tryNext(),
  },
  "queue.send, by bytes": {
    limit: { maxQueueBytes: 50 },
    code: "queue/full",
    add: (c) => c.queue.send("jobs", "x".repeat(8)),
    drain: (c) => c.queue.tryNext(),
  },
};

describe.each(Object.keys(ADDS))("an actor at its limit whose start hook does %s", (what) => {
  const { limit, code, add, drain } = ADDS[what] as (typeof ADDS)[string];

  function subject() {
    let n = 0;
    return single(
      actor({
        options: limit,
        onWake: (c) => add(c, (n += 1)),
        actions: {
          touch: () => "served",
          add: async (c) =>
            Promise.resolve(add(c, (n += 1))).then(
              () => "added",
              (error: { group: string; code: string }) => `${error.group}/${error.code}`,
            ),
          drain: async (c) => void (await drain(c)),
        },
      }),
    );
  }

  it("starts, with one log line, what the hook asked for is stored, and it can drain", async () => {
    const { subject: s, log } = subject();
    const results = [];
    for (let n = 0; n < 6; n += 1) results.push(await s.call("add"));
    expect(results.slice(0, 4)).toEqual(["added", "added", "added", "added"]);
    expect(results.at(-1)).toBe(code);
    const stored = s.store.keys.length;
    expect(log.filter(({ level }) => level === "warn")).toEqual([]);
    s.crash();
    expect(await s.call("touch")).toBe("served");
    expect(s.store.keys.length).toBe(stored + 1);
    expect(log.filter(({ level }) => level === "warn")).toEqual([
      { level: "warn", entry: expect.objectContaining({ msg: expect.stringContaining("hook of the start") }) },
    ]);
    // Outside of the start the limit stands.
    expect(await s.call("add")).toBe(code);
    for (let n = 0; n < 2; n += 1) await s.call("drain");
    expect(await s.call("add")).toBe("added");
  });
});
