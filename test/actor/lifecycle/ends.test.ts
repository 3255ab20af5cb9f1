import { describe, expect, it } from "vitest";
import { actor, workflow } from "../../../src/actor/index.js";
import { single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

describe("an actor whose workflow destroys it at once", () => {
  const definition = () =>
    actor({
      run: workflow(async (ctx) => void (await ctx.step("end", (step) => step.destroy()))),
      actions: { touch: () => {} },
    } as Any);

  it.each(["create", "getOrCreate"] as const)(
    "was created: %s answers its id, and nothing of it stays",
    async (mode) => {
      const { subject, world } = single(definition());
      const reply = await subject.send({ mode }, { kind: "resolve" });
      expect(reply).toMatchObject({ ok: true, created: true, actorId: expect.any(String) });
      await world.settle();
      expect(subject.store.keys).toEqual([]);
      expect(await subject.send({ mode: "get" }, { kind: "resolve" })).toMatchObject({
        ok: false,
        error: { code: "not_found" },
      });
    },
  );
});

describe("c.destroy() of a callback that waits in the queue", () => {
  it.each([
    ["next", (c: Any) => c.queue.next({ timeout: 8_000 })],
    ["nextBatch", (c: Any) => c.queue.nextBatch({ names: ["a"], signal: new AbortController().signal })],
    ["enqueueAndWait", (c: Any) => c.queue.enqueueAndWait("a", 1)],
    [
      "iter",
      async (c: Any) => {
        for await (const _ of c.queue.iter());
        return "ended";
      },
    ],
  ])("ends its wait in %s, and then the actor", async (what, wait) => {
    const { subject, world } = single(
      actor({
        actions: {
          ask: async (c) => {
            const waiting = wait(c).then(
              (value: unknown) => value,
              (error: { code: string }) => error.code,
            );
            c.destroy();
            return waiting;
          },
          late: async (c) => {
            c.destroy();
            return wait(c).then(
              (value: unknown) => value,
              (error: { code: string }) => error.code,
            );
          },
          other: (c) => c.queue.next({ names: ["other"], timeout: 8_000 }),
        },
      }),
    );
    const begun = world.clock.now();
    const end = what === "iter" ? "ended" : "aborted";
    expect(await subject.call("ask")).toBe(end);
    await world.settle();
    expect([subject.store.keys, world.clock.now() - begun, subject.timersHeld]).toEqual([[], 0, 0]);
    expect(await subject.call("late")).toBe(end);
    await world.settle();
    expect(subject.store.keys).toEqual([]);
  });
});

describe("c.sleep()", () => {
  function sleeper() {
    const seen: string[] = [];
    const made = single(
      actor({
        options: { sleepGracePeriod: 5_000, canHibernateWebSocket: false },
        onWake: () => void seen.push("onWake"),
        onSleep: () => void seen.push("onSleep"),
        onConnect: () => void seen.push("onConnect"),
        onDisconnect: () => void seen.push("onDisconnect"),
        onWebSocket: () => void seen.push("onWebSocket"),
        actions: {
          sleep: (c) => c.sleep(),
          end: async (c) => {
            for (const conn of c.conns.values()) if (conn.id !== c.conn?.id) await conn.disconnect();
            c.sleep();
          },
          hang: () => new Promise(() => {}),
        },
      }),
    );
    return { ...made, seen };
  }

  it("with sockets that this side closes ends each of them once, and wakes nobody", async () => {
    const { subject, world, seen } = sleeper();
    for (let n = 0; n < 3; n += 1) await subject.connect({ raw: true });
    await subject.call("sleep");
    await world.settle();
    await world.settle();
    expect(seen.filter((each) => each === "onWebSocket")).toHaveLength(3);
    // The call is a caller, too.
    expect(seen.filter((each) => each === "onDisconnect")).toHaveLength(4);
    expect(seen.filter((each) => each === "onWake" || each === "onSleep")).toEqual(["onWake", "onSleep"]);
  });

  it("after a connection was ended by conn.disconnect() likewise", async () => {
    const { subject, world, seen } = sleeper();
    const socket = await subject.connect();
    await subject.call("end");
    await world.settle();
    expect(socket.end).toBeDefined();
    expect(seen.filter((each) => each === "onDisconnect")).toHaveLength(2);
    expect(seen.filter((each) => each === "onWake" || each === "onSleep")).toEqual(["onWake", "onSleep"]);
  });

  it("waits sleepGracePeriod at most for calls that run", async () => {
    const { subject, world, seen } = sleeper();
    const hanging = subject.call("hang").catch((error: { code: string }) => error.code);
    await world.settle();
    await subject.call("sleep");
    await world.pass(4_999);
    expect(seen).not.toContain("onSleep");
    await world.pass(1);
    await world.settle();
    expect(seen).toContain("onSleep");
    await world.pass(5_000);
    expect(await Promise.race([hanging, world.settle().then(() => "hangs")])).not.toBe("hangs");
  });
});

it("a last part whose activation is lost to a full storage is over: the next call is answered", async () => {
  let isFull = false;
  const { subject, world } = single(
    actor({
      state: { n: 0 },
      actions: {
        sleep: (c) => {
          const work = async (): Promise<void> => {
            await world.clock.delay(100);
            isFull = true;
            c.state.n += 1;
            await new Promise(() => {});
          };
          c.waitUntil(work());
          c.sleep();
        },
        get: (c) => c.state.n,
      },
    }),
    {
      fault: () => {
        if (isFull) throw new Error("SQLITE_FULL");
        return undefined;
      },
    },
  );
  await subject.call("sleep");
  await world.pass(100);
  expect(isFull).toBe(true);
  isFull = false;
  expect(await Promise.race([subject.call("get"), world.settle().then(() => "hangs")])).toBe(0);
});
