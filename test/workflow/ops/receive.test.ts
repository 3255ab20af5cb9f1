import { describe, expect, it } from "vitest";
import { Loop } from "../../../src/entry/workflow.js";
import { ActorError, encodeValue } from "../../../src/protocol/index.js";
import { Runs, Subject, finished, subject, type Ctx } from "../subject.js";

const HOUR = 3_600_000;

/** Keeps the workflow open, so that it can be replayed. */
const stay = (ctx: Ctx): Promise<unknown> => ctx.queue.next("stay", { names: ["end"] });

/** Notes what each commit writes, besides the state. */
function watchWrites({ actor: { store } }: Subject, writes: string[]): void {
  const write = store.write.bind(store);
  store.write = (generation, batch) => {
    for (const key of batch.deletes) writes.push(`delete ${key}`);
    for (const key of batch.puts.keys()) if (key !== "s" && key !== "a") writes.push(`put ${key}`);
    write(generation, batch);
  };
}

describe("queue.next", () => {
  it("takes the first message of any queue without names (D60)", async () => {
    const s = await subject(async (ctx) => ctx.queue.next("w"));
    await s.send("x", { n: 1 });
    await s.world.settle();
    const { output } = await s.status();
    expect(output).toEqual({ id: 1n, name: "x", body: { n: 1 }, createdAt: s.clock.now() });
    expect(s.queued).toBe(0);
  });

  it("takes only its names, and leaves the rest in the queue (D61)", async () => {
    const s = await subject(async (ctx) => {
      await ctx.sleep("later", 1_000);
      return ctx.queue.next("w", { names: ["a", "b"] });
    });
    for (const name of ["c", "b", "a"]) await s.send(name, name);
    await s.world.pass(1_000);
    expect((await s.status()).output).toMatchObject({ name: "b" });
    expect(await s.call("tryNext")).toMatchObject({ name: "c" });
    expect(await s.call("tryNext")).toMatchObject({ name: "a" });
  });

  it("is asleep until a message comes, with nothing stored, an alarm a year ahead and no timer (D62)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await ctx.queue.next("w", { names: ["a"] });
      runs.note("received");
    });
    expect(s.stored()).toEqual([]);
    expect(s.actor.store.alarmAt).toBe(s.clock.now() + 365 * 24 * HOUR);
    expect(s.actor.timersHeld).toBe(0);
    expect(s.actor.store.keys).toEqual(["a", "s"]);
    s.actor.crash();
    await s.send("a");
    await s.world.settle();
    expect(runs.list).toEqual(["received"]);
  });

  it("takes at once what was there before the workflow started (D63)", async () => {
    const s = await subject(async (ctx) => ctx.queue.next("w"), {
      config: { onCreate: (c: { queue: { send(name: string, body: unknown): unknown } }) => c.queue.send("early", 1) },
    });
    expect((await s.status()).output).toMatchObject({ name: "early", body: 1 });
  });

  it("receives what was sent while a step ran (D75)", async () => {
    const s = await subject(async (ctx, { clock }) => {
      await ctx.step("long", () => clock.delay(100));
      return ctx.queue.next("w");
    });
    await s.send("a", "meanwhile");
    await s.world.pass(100);
    expect((await s.status()).output).toMatchObject({ body: "meanwhile" });
  });

  it("is committed, with the message off the queue, before the code sees the message (COMMIT-2)", async () => {
    const events: string[] = [];
    const s = await subject(async (ctx) => {
      for (let n = 0; n < 2; n += 1) events.push(`seen ${String((await ctx.queue.next("w", { names: ["a"] })).body)}`);
    });
    watchWrites(s, events);
    await s.send("a", 1);
    await s.send("a", 2);
    await s.world.settle();
    expect(events).toEqual(["put e/1", "seen 1", "put e/4", "seen 2"]);
  });

  it("is committed so, too, if the message was stored before the code came to wait for it", async () => {
    const events: string[] = [];
    const s = await subject(async (ctx, { clock }) => {
      await ctx.step("long", () => clock.delay(100));
      events.push(`seen ${String((await ctx.queue.next("w")).body)}`);
    });
    await s.send("a", 1);
    watchWrites(s, events);
    await s.world.pass(100);
    expect(events).toEqual(["put e/1", "delete m/1", "put e/4", "seen 1"]);
  });

  describe("that waits takes the message with the commit of its send", () => {
    it("which is no row for one instant, and counts as one that was", async () => {
      const writes: string[] = [];
      const s = await subject(async (ctx) => {
        const [first, second] = [await ctx.queue.next("a"), await ctx.queue.next("b")];
        return [first.id, second.id, first.createdAt];
      });
      watchWrites(s, writes);
      const { id, createdAt } = await s.send("a", 1);
      await s.world.settle();
      s.actor.crash();
      await s.send("a", 2);
      await s.world.settle();
      expect((await s.status()).output).toEqual([1n, 2n, createdAt]);
      expect([id, writes.filter((write) => write.includes("m/"))]).toEqual([1, ["put m/2", "delete m/2"]]);
    });

    it("as one that had a row: the entries are the same", async () => {
      const stored = async (isThere: boolean): Promise<unknown> => {
        const gate = Promise.withResolvers<void>();
        const s = await subject(async (ctx) => {
          await ctx.step("first", () => gate.promise);
          await ctx.queue.next("w");
          await ctx.queue.next("w");
        });
        if (!isThere) gate.resolve();
        await s.world.settle();
        const send = { kind: "send", queue: "q", body: encodeValue("x"), wait: true, token: "ab".repeat(16) } as const;
        const chain = [{ actorId: "other", name: "other", waits: "action", depth: 1 }] as const;
        void s.actor.sendInside({ mode: "get" }, { ...send, timeoutMs: 90 }, chain);
        await s.world.settle();
        gate.resolve();
        await s.world.settle();
        return s.stored().map(({ kind, value, data }) => [kind, value, data]);
      };
      expect(await stored(false)).toEqual(await stored(true));
    });

    it("not if it is completable: that keeps its row until it is completed", async () => {
      const writes: string[] = [];
      const s = await subject(async (ctx) => {
        await (await ctx.queue.next("w", { completable: true })).complete?.();
      });
      watchWrites(s, writes);
      await s.send("a", 1);
      await s.world.settle();
      expect(writes.filter((write) => write.includes("m/"))).toEqual(["put m/1", "delete m/1"]);
    });

    it("not if a deadline comes before it: the message stays for whoever waits next", async () => {
      const s = await subject(async (ctx) => {
        const late = await ctx.queue.next("w", { timeout: 10 }).catch(({ code }: { code: string }) => code);
        return [late, (await ctx.queue.next("w")).body];
      });
      s.clock.moveTo(s.clock.now() + 11);
      await s.send("a", 1);
      await s.world.settle();
      expect((await s.status()).output).toEqual(["timed_out", 1]);
    });

    it("not while code of the workflow runs, which may end the wait", async () => {
      const writes: string[] = [];
      const gate = Promise.withResolvers<void>();
      const both = (c: { queue: { send(name: string, body: unknown): unknown } }): unknown => {
        gate.resolve();
        return c.queue.send("a", 1);
      };
      const s = await subject(
        async (ctx) => {
          const { winner } = await ctx.race("race", [
            { name: "message", run: async (branch) => (await branch.queue.next("w")).body },
            { name: "code", run: () => gate.promise },
          ]);
          return [winner, (await ctx.queue.next("w")).body];
        },
        { actions: { both } },
      );
      watchWrites(s, writes);
      await s.call("both");
      await s.world.settle();
      expect((await s.status()).output).toEqual(["code", 1]);
      expect(writes).toContain("put m/1");
    });

    it("only if the queue has room for it", async () => {
      const s = await subject(async (ctx) => (await ctx.queue.next("w", { names: ["a"] })).body, {
        options: { maxQueueSize: 1 },
      });
      await s.send("b", 1);
      await expect(s.send("a", 2)).rejects.toMatchObject({ group: "queue", code: "full" });
      await s.call("tryNext");
      await s.send("a", 3);
      expect((await s.status()).output).toBe(3);
    });

    it("with the oldest there is: the new one is stored", async () => {
      const s = await subject(async (ctx) => {
        const [one, two] = [await ctx.queue.nextBatch("w", { count: 2 }), await ctx.queue.nextBatch("w", { count: 2 })];
        return [one, two].map((batch) => batch.map(({ body }) => body));
      });
      await Promise.all([s.send("a", 1), s.send("a", 2), s.send("a", 3)]);
      await s.world.settle();
      expect((await s.status()).output).toEqual([[1], [2, 3]]);
    });

    it("and replayFrom puts it back under its old id", async () => {
      const seen: unknown[] = [];
      const s = await subject(async (ctx) => {
        await ctx.step("before", () => {});
        const { id, body } = await ctx.queue.next("w");
        seen.push([id, body]);
      });
      await s.send("a", 1);
      await s.world.settle();
      await s.call("replayFrom", (await s.history()).find(({ location }) => location[0] === "before")?.id);
      await s.world.settle();
      expect(seen).toEqual([
        [1n, 1],
        [1n, 1],
      ]);
    });

    it.each(["crash-before", "crash-after"] as const)("and dies with all of it, or nothing, at %s", async (kind) => {
      let dies = false;
      const s = await subject(
        async (ctx) => {
          const taken = await ctx.queue.next("w");
          await ctx.step("use", (step) => void step.state.log.push(taken.body));
        },
        { fault: () => (dies ? ((dies = false), kind) : undefined) },
      );
      dies = true;
      await s.send("a", 1).catch(() => {});
      await s.world.passUntilQuiet();
      expect([await s.state(), s.queued]).toEqual([{ log: kind === "crash-before" ? [] : [1] }, 0]);
    });
  });

  it("gives the same message on replay, and taking it and recording it are one commit", async () => {
    const seen: unknown[] = [];
    let commits = 0;
    const s = await subject(async (ctx) => {
      seen.push(await ctx.queue.next("w", { names: ["a"] }));
      await stay(ctx);
    });
    await s.send("a", new Map([[1, 2n]]));
    await s.world.settle();
    commits = s.actor.store.commits;
    expect(commits).toBeGreaterThan(0);
    await s.replay();
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual(seen[0]);
    expect(s.lines()).toEqual(["message w completed"]);
  });

  it.each(["crash-before", "crash-after"] as const)(
    "neither loses nor doubles a message with a %s at any commit (C26)",
    async (kind) => {
      for (let at = 2; at < 9; at += 1) {
        const seen: unknown[] = [];
        const s = await subject(
          async (ctx) => {
            const message = await ctx.queue.next("w", { names: ["a"] });
            await ctx.step("note", (step) => void step.state.log.push(message.body));
            seen.push(message.body);
          },
          { fault: (commit) => (commit === at ? kind : undefined) },
        ).catch(() => undefined);
        if (!s) continue;
        await s.send("a", 1).catch(() => undefined);
        await s.world.passUntilQuiet();
        const stored = (await s.state()).log;
        // A send whose response was lost is not retried here: the message may be stored or not, but never twice.
        expect(stored.length, `commit ${at}`).toBeLessThanOrEqual(1);
        expect(stored.length === 1 || s.queued === 0, `commit ${at}`).toBe(true);
        expect(stored.length === 1).toBe(s.record().status === "completed");
      }
    },
  );

  it("times out with queue/timed_out, the same on replay (D66)", async () => {
    const caught: unknown[] = [];
    const s = await subject(async (ctx) => {
      await ctx.queue.next("w", { names: ["a"], timeout: 50 }).catch((error: unknown) => caught.push(error));
      await stay(ctx);
    });
    await s.world.pass(49);
    expect(caught).toEqual([]);
    await s.world.pass(1);
    await s.replay();
    expect(caught).toHaveLength(2);
    for (const error of caught) {
      expect(error).toBeInstanceOf(ActorError);
      expect(error).toMatchObject({
        group: "queue",
        code: "timed_out",
        message: 'queue.next("w") timed out before receiving a message',
      });
    }
  });

  it("fails the workflow when its timeout is not caught", async () => {
    const s = await finished(async (ctx) => ctx.queue.next("w", { timeout: 50 }));
    expect(await s.status()).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("timed out") },
    });
  });

  it("gives a message that came in time, and ignores the timeout, also on replay (D67)", async () => {
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      seen.push(await ctx.queue.next("w", { names: ["a"], timeout: 50 }).catch((error: Error) => error.message));
      await stay(ctx);
    });
    await s.world.pass(20);
    await s.send("a", 1);
    await s.world.pass(1_000);
    await s.replay();
    expect(seen).toHaveLength(2);
    expect(seen).toMatchObject([{ body: 1 }, { body: 1 }]);
  });

  it("takes a message that came before its deadline although the alarm is late", async () => {
    const s = await subject(async (ctx) => {
      const first = await ctx.queue
        .next("w", { names: ["a"], timeout: 1_000 })
        .catch((error: { code: string }) => error.code);
      await ctx.step(
        "note",
        (step) => void step.state.log.push(first === "timed_out" ? first : (first as { body: unknown }).body),
      );
    });
    // A deploy that does not run the workflow stores the message: nothing reads the queue until the alarm.
    const sender = s.deploy(undefined);
    sender.clock.moveTo(sender.clock.now() + 1_000);
    await sender.call("put", 1).catch(() => undefined);
    await sender.send("a", "in time");
    const back = sender.deploy(async (ctx) => {
      const first = await ctx.queue
        .next("w", { names: ["a"], timeout: 1_000 })
        .catch((error: { code: string }) => error.code);
      await ctx.step(
        "note",
        (step) => void step.state.log.push(first === "timed_out" ? first : (first as { body: unknown }).body),
      );
    });
    back.clock.moveTo(back.clock.now() + HOUR);
    await back.send("a", "too late");
    await back.world.passUntilQuiet();
    expect((await back.state()).log).toEqual(["in time"]);
    expect(await back.call("tryNext")).toMatchObject({ body: "too late" });
  });

  it("does not take a message that came after its deadline, however late the wake", async () => {
    const s = await subject(async (ctx) => {
      const first = await ctx.queue
        .next("w", { names: ["a"], timeout: 1_000 })
        .catch((error: { code: string }) => error.code);
      await stay(ctx);
      return first;
    });
    s.clock.moveTo(s.clock.now() + 1_001);
    await s.send("a", "late");
    await s.world.settle();
    await s.send("end");
    await s.world.settle();
    expect((await s.status()).output).toBe("timed_out");
    expect(await s.call("tryNext")).toMatchObject({ body: "late" });
  });

  it("is a poll with timeout 0: a message that is there wins, else it times out at once (D68)", async () => {
    const s = await subject(
      async (ctx) => {
        const got = [];
        for (const name of ["p1", "p2"])
          got.push(
            await ctx.queue.next(name, { names: ["a"], timeout: 0 }).then(
              (m) => m.body,
              (error: { code: string }) => error.code,
            ),
          );
        got.push(await ctx.queue.nextBatch("p3", { names: ["a"], timeout: 0 }));
        await stay(ctx);
        return got;
      },
      { config: { onCreate: (c: { queue: { send(name: string, body: unknown): unknown } }) => c.queue.send("a", 1) } },
    );
    const stored = s.lines();
    await s.replay();
    expect(s.lines()).toEqual(stored);
    await s.send("end");
    await s.world.settle();
    expect((await s.status()).output).toEqual([1, "timed_out", []]);
  });

  it("does not deliver a message of an earlier receive again after a timeout (D69)", async () => {
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      for (let i = 0; i < 3; i += 1) {
        const got = await ctx.queue.next(`w${i}`, { names: ["a"], timeout: 1_000 }).then(
          (m) => m.body,
          () => "none",
        );
        await ctx.step(`note ${i}`, () => void seen.push(got));
      }
    });
    await s.send("a", 1);
    await s.world.settle();
    await s.replay();
    await s.world.pass(1_000);
    await s.replay();
    await s.world.pass(1_000);
    expect(seen).toEqual([1, "none", "none"]);
  });

  it("may use a name again: the n-th receive of it is its n-th, over next and nextBatch (D141)", async () => {
    const s = await subject(async (ctx) => {
      const got: unknown[] = [];
      for (let i = 0; i < 3; i += 1) got.push((await ctx.queue.next("drain", { names: ["a"] })).body);
      got.push((await ctx.queue.nextBatch("drain", { names: ["a"], count: 5 })).map((m) => m.body));
      const polled = await ctx.queue
        .next("drain", { names: ["a"], timeout: 0 })
        .catch((error: { code: string }) => error.code);
      await stay(ctx);
      return [...got, polled];
    });
    for (let n = 1; n <= 3; n += 1) await s.send("a", n);
    await s.replay();
    await s.send("a", 4);
    await s.replay();
    await s.send("end");
    await s.world.settle();
    expect((await s.status()).output).toEqual([1, 2, 3, [4], "timed_out"]);
    expect(s.stored().map((entry) => entry.location)).toEqual([
      ["drain"],
      ["drain", 1],
      ["drain", 2],
      ["drain", 3],
      ["drain", 4],
      ["stay"],
    ]);
  });

  it.each([
    ["a negative count", { count: 0 }, "invalid_payload"],
    ["half a message", { count: 1.5 }, "invalid_payload"],
    ["a timeout that is no number", { timeout: Number.NaN }, "invalid_time"],
    ["an endless timeout", { timeout: Number.POSITIVE_INFINITY }, "invalid_time"],
    ["names that are no list", { names: "a" }, "invalid_payload"],
    ["names that are no texts", { names: [1] }, "invalid_payload"],
  ])("refuses %s and records nothing", async (_, options, code) => {
    const s = await finished(async (ctx) =>
      ctx.queue.nextBatch("w", options as never).catch((error: { code: string }) => error.code),
    );
    expect((await s.status()).output).toBe(code);
    expect(s.stored()).toEqual([]);
  });
});

describe("queue.nextBatch", () => {
  it("takes up to `count`, oldest first, and leaves the rest (D64, C3, C4)", async () => {
    const s = await subject(async (ctx) => {
      await ctx.sleep("later", 1_000);
      return ctx.queue.nextBatch("w", { count: 2 });
    });
    for (const [name, n] of [
      ["a", 1],
      ["b", 2],
      ["a", 3],
    ] as const)
      await s.send(name, n);
    await s.world.pass(1_000);
    expect((await s.status()).output).toMatchObject([
      { name: "a", body: 1 },
      { name: "b", body: 2 },
    ]);
    expect(s.queued).toBe(1);
  });

  it("resolves with what is there as soon as there is one", async () => {
    const s = await subject(async (ctx) => ctx.queue.nextBatch("w", { count: 10, names: ["a"] }));
    await s.send("a", 1);
    await s.world.settle();
    expect((await s.status()).output).toMatchObject([{ body: 1 }]);
  });

  it("gives [] when its deadline passes, the same on replay (D65)", async () => {
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      seen.push(await ctx.queue.nextBatch("w", { count: 2, timeout: 50, names: ["a"] }));
      await stay(ctx);
    });
    await s.world.pass(50);
    await s.replay();
    expect(seen).toEqual([[], []]);
  });

  it("takes only what came by its deadline, however late the wake", async () => {
    const program = async (ctx: Ctx): Promise<unknown> => {
      const batch = await ctx.queue.nextBatch("w", { names: ["a"], count: 5, timeout: 1_000 });
      await stay(ctx);
      return batch.map((message) => message.body);
    };
    const s = await subject(program);
    const sender = s.deploy(undefined, { config: { run: async () => {} } });
    await sender.send("a", "in time");
    sender.clock.moveTo(sender.clock.now() + 2_000);
    await sender.send("a", "too late");
    const back = sender.deploy(program);
    await back.world.pass(HOUR);
    await back.send("end");
    await back.world.settle();
    expect((await back.status()).output).toEqual(["in time"]);
    expect(await back.call("tryNext")).toMatchObject({ body: "too late" });
  });

  it("keeps the deadline it was first reached with over a restart", async () => {
    const s = await subject(async (ctx, { clock }) => {
      const started = clock.now();
      const got = await ctx.queue.nextBatch("w", { count: 1, timeout: 30_000, names: ["a"] });
      return [got, clock.now() - started];
    });
    const at = s.clock.now();
    await s.world.pass(20_000);
    await s.replay();
    await s.world.pass(10_000);
    expect((await s.status()).output).toEqual([[], expect.any(Number)]);
    expect(s.clock.now() - at).toBe(30_000);
  });
});

describe("completable messages", () => {
  it("answer a waiting sender with what complete was given (D70, C11)", async () => {
    const s = await subject(async (ctx) => {
      const message = await ctx.queue.next("w", { names: ["ask"], completable: true });
      await message.complete({ answer: message.body });
    });
    expect(await s.sendAndWait("ask", 42, 1_000)).toEqual({ status: "completed", response: { answer: 42 } });
    expect(s.queued).toBe(0);
  });

  it("need no completion schema, and answer with nothing if given nothing (C17)", async () => {
    const s = await subject(async (ctx) => (await ctx.queue.next("w", { completable: true })).complete());
    expect(await s.sendAndWait("ask", 1, 1_000)).toEqual({ status: "completed" });
  });

  it("stay stored, and invisible to everybody else, until they are completed", async () => {
    const s = await subject(async (ctx, { clock }) => {
      const message = await ctx.queue.next("w", { names: ["a"], completable: true });
      await ctx.step("work", () => clock.delay(100));
      await message.complete();
      await stay(ctx);
    });
    await s.send("a", 1);
    await s.world.settle();
    expect(s.queued).toBe(1);
    expect(await s.call("tryNext")).toBeUndefined();
    expect(await s.call("peek")).toBeUndefined();
    await s.world.pass(100);
    expect(s.queued).toBe(0);
  });

  it("block the next receive of their queue until they are completed, and of no other queue (D71)", async () => {
    const s = await subject(async (ctx) => {
      const message = await ctx.queue.next("w", { names: ["a"], completable: true });
      const other = await ctx.queue
        .next("other", { names: ["b"], timeout: 0 })
        .catch((error: { code: string }) => error.code);
      const same = await ctx.queue
        .next("same", { names: ["a"], timeout: 0 })
        .catch((error: { code: string }) => error.code);
      const any = await ctx.queue
        .nextBatch("any", { timeout: 0 })
        .catch((error: { code: string; message: string }) => [error.code, error.message]);
      await message.complete();
      const after = await ctx.queue.nextBatch("after", { names: ["a"], timeout: 0 });
      return [other, same, any, after];
    });
    await s.send("a", 1);
    await s.world.settle();
    expect((await s.status()).output).toEqual([
      "timed_out",
      "previous_message_not_completed",
      [
        "previous_message_not_completed",
        expect.stringContaining("Previous completable queue message is not completed"),
      ],
      [],
    ]);
  });

  it("give the same refusal on replay, though they were completed since (D72, D73)", async () => {
    const seen: unknown[][] = [];
    const s = await subject(async (ctx) => {
      const message = await ctx.queue.next("w", { names: ["a"], completable: true });
      const refused = await ctx.queue.next("x", { names: ["a"] }).catch((error: { code: string }) => error.code);
      await message.complete();
      const after = await ctx.queue.nextBatch("after", { names: ["a"], timeout: 0 });
      seen.push([refused, after]);
      await stay(ctx);
    });
    await s.send("a", 1);
    await s.world.settle();
    await s.replay();
    expect(seen).toEqual([
      ["previous_message_not_completed", []],
      ["previous_message_not_completed", []],
    ]);
    expect((await s.status()).status).toBe("running");
  });

  it("still block after a restart when they were not completed (D73)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      const message = await ctx.queue.next("w", { names: ["a"], completable: true });
      await ctx.sleep("think", HOUR);
      const refused = await ctx.queue.next("x", { names: ["a"] }).catch((error: { code: string }) => error.code);
      runs.note(String(refused));
      await message.complete("late");
    });
    await s.send("a", 1);
    await s.world.settle();
    s.actor.crash();
    await s.world.pass(HOUR);
    expect(runs.list).toEqual(["previous_message_not_completed"]);
    expect(s.queued).toBe(0);
  });

  it("can be completed once: a second complete is queue/already_completed, at once and after a replay (D74)", async () => {
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      const message = await ctx.queue.next("w", { names: ["a"], completable: true });
      const first = await message.complete(1).then(
        () => "ok",
        (error: ActorError) => `${error.group}/${error.code}`,
      );
      const second = await message.complete(2).then(
        () => "ok",
        (error: ActorError) => `${error.group}/${error.code}`,
      );
      seen.push([first, second]);
      await stay(ctx);
    });
    expect(await s.sendAndWait("a", 1, 1_000)).toEqual({ status: "completed", response: 1 });
    await s.replay();
    expect(seen).toEqual([
      ["ok", "queue/already_completed"],
      ["ok", "queue/already_completed"],
    ]);
  });

  it("completed twice at the same time are completed once", async () => {
    const s = await subject(async (ctx) => {
      const message = await ctx.queue.next("w", { names: ["a"], completable: true });
      const results = await Promise.allSettled([message.complete(1), message.complete(2)]);
      return results.map((result) => result.status);
    });
    expect(await s.sendAndWait("a", 1, 1_000)).toEqual({ status: "completed", response: 1 });
    expect((await s.status()).output).toEqual(["fulfilled", "rejected"]);
  });

  it("do nothing when they are completed again by a replay", async () => {
    let crash = true;
    const s = await subject(async (ctx) => {
      const message = await ctx.queue.next("w", { names: ["a"], completable: true });
      await message.complete("once");
      if (crash) await new Promise(() => {});
      return "end";
    });
    expect(await s.sendAndWait("a", 1, 1_000)).toEqual({ status: "completed", response: "once" });
    crash = false;
    const { rows } = s.actor.store;
    expect(rows).toBeGreaterThan(0);
    await s.restart();
    await s.world.passUntilQuiet();
    expect((await s.status()).output).toBe("end");
    expect(s.queued).toBe(0);
  });

  it("are given again after a restart, with the same id, and can be completed then", async () => {
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      const message = await ctx.queue.next("w", { names: ["a"], completable: true });
      seen.push(message.id);
      await ctx.sleep("think", HOUR);
      await message.complete("after a restart");
    });
    void s.sendAndWait("a", 1, 2 * HOUR);
    await s.world.settle();
    s.actor.crash();
    await s.world.pass(HOUR);
    expect(seen).toEqual([1n, 1n]);
    // The sender was away: its reply is kept until its wait ends, and returned when it reattaches.
    expect(await s.wait(1, s.clock.now() - HOUR, HOUR)).toEqual({ status: "completed", response: "after a restart" });
    await s.world.pass(2 * HOUR);
    expect(s.actor.store.keys.filter((key) => !key.startsWith("e/"))).toEqual(["a", "s"]);
    expect(s.actor.store.alarmAt).toBeNull();
  });

  it("keep no reply for a sender whose wait is over, and forget one that is not fetched", async () => {
    const s = await subject(async (ctx) => {
      for (const name of ["w1", "w2"]) {
        const message = await ctx.queue.next(name, { names: ["a"], completable: true });
        await ctx.sleep(`think ${name}`, HOUR);
        await message.complete(name);
      }
    });
    expect(await s.sendAndWait("a", 1, 0).catch(() => "refused")).toEqual({ status: "timedOut" });
    await s.world.pass(HOUR);
    expect(s.actor.store.keys.filter((key) => key.startsWith("d/"))).toEqual([]);
    void s.sendAndWait("a", 2, 2 * HOUR);
    await s.world.settle();
    s.actor.crash();
    await s.world.pass(HOUR);
    expect(s.actor.store.keys.filter((key) => key.startsWith("d/"))).toHaveLength(1);
    await s.world.pass(2 * HOUR);
    expect(s.actor.store.keys.filter((key) => key.startsWith("d/"))).toEqual([]);
    expect(s.actor.store.alarmAt).toBeNull();
  });

  it("leave a sender that nobody answers with timedOut, and stay (C12, C18)", async () => {
    const s = await subject(async (ctx) => stay(ctx));
    const waiting = s.sendAndWait("ask", 1, 50);
    await s.world.pass(50);
    expect(await waiting).toEqual({ status: "timedOut" });
    expect(s.queued).toBe(1);
  });

  it("become visible again when the workflow ends without completing them, and stay so after a restart", async () => {
    const s = await subject(async (ctx) => void (await ctx.queue.next("w", { names: ["a"], completable: true })));
    await s.send("a", 1);
    await s.world.settle();
    expect((await s.status()).status).toBe("completed");
    expect(await s.call("peek")).toMatchObject({ id: 1, body: 1 });
    await s.restart();
    expect(await s.call("tryNext")).toMatchObject({ id: 1, body: 1 });
    expect(s.queued).toBe(0);
  });

  it.each(["failed", "cancelled"])("become visible again when the workflow has %s, in memory or not", async (end) => {
    for (const evicted of [false, true]) {
      const s = await subject(async (ctx) => {
        await ctx.queue.next("w", { names: ["a"], completable: true });
        await ctx.sleep("think", HOUR);
        throw new Error("no");
      });
      await s.send("a", 1);
      await s.world.settle();
      if (evicted) s.actor.crash();
      if (end === "cancelled") await s.call("cancel");
      else await s.world.pass(HOUR);
      expect((await s.status()).status).toBe(end);
      expect(await s.call("tryNext"), `evicted ${evicted}`).toMatchObject({ body: 1 });
    }
  });

  it("are given to a waiting action as soon as the workflow lets go of them", async () => {
    const s = await subject(async (ctx, { clock }) => {
      await ctx.queue.next("w", { names: ["a"], completable: true });
      await ctx.step("work", () => clock.delay(100));
    });
    await s.send("a", 1);
    const waiting = s.call("next", { names: ["a"], timeout: 10_000 });
    await s.world.settle();
    await s.world.pass(100);
    await s.world.settle();
    expect(s.record()).toMatchObject({ status: "completed" });
    expect(await Promise.race([waiting, s.world.turn().then(() => "not yet")])).toMatchObject({ body: 1 });
  });

  it("may be completed inside a step, and after the scope that received them has ended", async () => {
    const s = await subject(async (ctx) => {
      const block = await ctx.try("block", async (inner) => inner.queue.next("w", { names: ["a"], completable: true }));
      if (!block.ok) throw new Error("no");
      await ctx.step("answer", async () => block.value.complete("from a step"));
    });
    expect(await s.sendAndWait("a", 1, 1_000)).toEqual({ status: "completed", response: "from a step" });
  });

  it("have no complete when they were not asked for as completable (C16)", async () => {
    const s = await subject(async (ctx) => Object.keys(await ctx.queue.next("w")));
    await s.send("a");
    await s.world.settle();
    expect((await s.status()).output).toEqual(["id", "name", "body", "createdAt"]);
  });

  it("are refused a response that fails the queue's schema, and can be completed after that", async () => {
    const number = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) => (typeof value === "number" ? { value } : { issues: [{ message: "a number" }] }),
      },
    };
    const s = await subject(
      async (ctx) => {
        const message = await ctx.queue.next("w", { completable: true });
        const refused = await message
          .complete("x" as never)
          .catch((error: ActorError) => `${error.group}/${error.code}`);
        await message.complete(5 as never);
        return refused;
      },
      { queues: { ask: { complete: number } as never } },
    );
    expect(await s.sendAndWait("ask", 1, 1_000)).toEqual({ status: "completed", response: 5 });
    expect((await s.status()).output).toBe("actor/validation_error");
  });

  it("held in one branch do not block another, live as on replay: a pool of workers", async () => {
    const s = await subject(async (ctx) => {
      const worker = (name: string) => ({
        run: (branch: Ctx) =>
          branch.loop({
            name: "work",
            run: async (round) => {
              const job = await round.queue.next("job", { names: ["jobs"], completable: true });
              await round.sleep("think", HOUR);
              await job.complete(`${name} did ${job.body}`);
            },
          }),
      });
      await ctx.join("pool", { w1: worker("w1"), w2: worker("w2") });
    });
    const first = await s.send("jobs", 1);
    await s.world.settle();
    await s.replay();
    await s.send("jobs", 2);
    await s.world.settle();
    expect(s.queued).toBe(3);
    expect(first.id).toBe(1);
    await s.world.pass(HOUR);
    expect((await s.status()).status).toBe("running");
    expect(await s.call("tryNext", { names: ["jobs"] })).toBeUndefined();
    // Only the message that nobody reads remains.
    expect(s.queued).toBe(1);
  });

  it("come in batches, each completed for itself; the rest still blocks", async () => {
    const s = await subject(async (ctx) => {
      await ctx.sleep("gather", 10);
      const batch = await ctx.queue.nextBatch("w", { names: ["a"], count: 3, completable: true });
      await batch[0]?.complete();
      const blocked = await ctx.queue.next("x", { names: ["a"] }).catch((error: { code: string }) => error.code);
      await batch[1]?.complete();
      await batch[2]?.complete();
      return [batch.length, blocked];
    });
    for (let n = 0; n < 3; n += 1) await s.send("a", n);
    await s.world.pass(10);
    expect((await s.status()).output).toEqual([3, "previous_message_not_completed"]);
    expect(s.queued).toBe(0);
  });
});

describe("messages of a workflow", () => {
  it("may be as large as a value can be: what stands around them comes on top", async () => {
    const s = await subject(async (ctx) => ((await ctx.queue.next("w", { names: ["a"] })).body as string).length, {
      options: { maxQueueMessageSize: 5_000_000 },
    });
    await s.send("a", "x".repeat(1_999_990));
    await s.world.settle();
    expect((await s.status()).output).toBe(1_999_990);
    await s.restart();
    expect(s.actor.crashes).toBe(1);
  });

  it("come in batches that one entry can hold, the rest in the next", async () => {
    const s = await subject(
      async (ctx) => {
        await ctx.sleep("gather", 10);
        const sizes = [];
        for (let n = 0; n < 3; n += 1)
          sizes.push((await ctx.queue.nextBatch("w", { names: ["a"], count: 100, timeout: 0 })).length);
        return sizes;
      },
      { options: { maxQueueMessageSize: 1_000_000 } },
    );
    for (let n = 0; n < 5; n += 1) await s.send("a", "x".repeat(900_000));
    await s.world.pass(10);
    expect((await s.status()).output).toEqual([2, 2, 1]);
  });

  it("keep their ids to themselves after a restart: none that history knows is given again", async () => {
    const s = await subject(async (ctx) => {
      await ctx.queue.next("w", { names: ["a"] });
      await ctx.queue.next("x", { names: ["b"] });
    });
    expect((await s.send("a")).id).toBe(1);
    await s.world.settle();
    await s.restart();
    expect((await s.send("c")).id).toBe(2);
  });

  it("have times that never go back, not even after a restart with a clock that does", async () => {
    const s = await subject(async (ctx) => {
      await ctx.queue.next("w", { names: ["a"] });
      await ctx.queue.next("x", { names: ["b"] });
    });
    const { createdAt } = await s.send("a");
    await s.world.settle();
    s.actor.crash();
    s.clock.moveTo(s.clock.now() - HOUR);
    expect((await s.send("c")).createdAt).toBe(createdAt);
  });

  it("go back to the queue when the entry that holds them is pruned, and cannot be completed by it any more", async () => {
    const late: { complete(): Promise<void> }[] = [];
    const s = await subject(async (ctx) => {
      await ctx.loop({
        name: "rounds",
        state: 0,
        historyPruneInterval: 1,
        historySize: 1,
        run: async (round, n: number) => {
          if (n === 0) late.push(await round.queue.next("w", { names: ["a"], completable: true }));
          await round.step("work", () => n);
          return n === 3 ? Loop.break(undefined) : Loop.continue(n + 1);
        },
      });
      await stay(ctx);
    });
    await s.send("a", 1);
    await s.world.settle();
    await expect(late[0]?.complete()).rejects.toMatchObject({ code: "evicted" });
    expect(await s.call("tryNext")).toMatchObject({ id: 1, body: 1 });
    expect(s.stored().filter((entry) => entry.kind === "message")).toEqual([]);
  });

  it("that are refused for the queue's name leave nothing behind", async () => {
    const s = await subject(async (ctx) => stay(ctx));
    await expect(s.send("q".repeat(1_025))).rejects.toMatchObject({ group: "queue", code: "invalid_payload" });
    expect(s.queued).toBe(0);
  });

  it("more than one pass takes are all delivered: 150 branches wait, one step sends 150", async () => {
    const s = await subject(async (ctx) => {
      const waiting = Object.fromEntries(
        Array.from({ length: 150 }, (_, n) => [
          `b${n}`,
          { run: (branch: Ctx) => branch.queue.next("w", { names: ["a"] }) },
        ]),
      );
      const sender = {
        run: (branch: Ctx) =>
          branch.step("send", async (step) => {
            for (let n = 0; n < 150; n += 1) await step.queue.send("a", n);
          }),
      };
      return Object.keys(await ctx.join("all", { ...waiting, sender })).length;
    });
    for (let tries = 0; tries < 10; tries += 1) await s.world.settle();
    expect((await s.status()).output).toBe(151);
    expect(s.queued).toBe(0);
  });
});

describe("receiving costs", () => {
  it("reads O(1) rows for each of 1,000 messages", async () => {
    const s = await subject(
      async (ctx) =>
        ctx.loop({
          name: "drain",
          run: async (round) => {
            await round.queue.next("w", { names: ["a"] });
          },
        }),
      { options: { maxQueueSize: 2_000 } },
    );
    s.actor.crash();
    const filler = s.deploy(undefined);
    for (let n = 0; n < 1_000; n += 1) await filler.send("a", n);
    const reader = filler.deploy(async (ctx) =>
      ctx.loop({
        name: "drain",
        run: async (round) => {
          await round.queue.next("w", { names: ["a"] });
        },
      }),
    );
    const { store } = reader.actor;
    let reads = 0;
    await reader.call("get");
    const read = store.read.bind(store);
    store.read = (generation) => {
      reads += 1;
      return read(generation);
    };
    const { rows } = store;
    await reader.send("a", 1_000);
    // The code without a workflow checked for it again after a minute.
    await reader.world.pass(60_000);
    for (let tries = 0; tries < 50 && reader.queued > 0; tries += 1) await reader.world.settle();
    expect(reader.queued).toBe(0);
    expect(reads).toBeLessThanOrEqual(1_001 * 2);
    // Taken: the message, the entry, the loop's position, a pruned entry.
    expect((store.rows - rows) / 1_001).toBeLessThanOrEqual(4.5);
  });

  it("leaves no listener, wait or timer behind in 5,000 timed receives", async () => {
    const listeners = { added: 0, removed: 0 };
    const add = AbortSignal.prototype.addEventListener;
    const remove = AbortSignal.prototype.removeEventListener;
    AbortSignal.prototype.addEventListener = function (this: AbortSignal, ...args: Parameters<typeof add>) {
      listeners.added += 1;
      return add.apply(this, args);
    } as typeof add;
    AbortSignal.prototype.removeEventListener = function (this: AbortSignal, ...args: Parameters<typeof remove>) {
      listeners.removed += 1;
      return remove.apply(this, args);
    } as typeof remove;
    try {
      const cycles = 5_000;
      let n = 0;
      const s = await subject(async (ctx) =>
        ctx.loop({
          name: "poll",
          run: async (round) => {
            n += 1;
            await round.queue.nextBatch("w", { names: ["a"], timeout: 10 });
          },
        }),
      );
      const open = listeners.added - listeners.removed;
      await s.world.pass(cycles * 10);
      expect(n).toBe(cycles + 1);
      expect(listeners.added - listeners.removed - open).toBeLessThanOrEqual(2);
      expect(s.actor.timersHeld).toBe(0);
      expect(s.clock.pendingTimers).toBe(0);
      expect(s.actor.store.keys.length).toBeLessThanOrEqual(45);
    } finally {
      AbortSignal.prototype.addEventListener = add;
      AbortSignal.prototype.removeEventListener = remove;
    }
  }, 30_000);

  it("is given what came as soon as a replay has come to it, however many operations that takes", async () => {
    for (const timeout of [undefined, HOUR]) {
      const s = await subject(async (ctx) => {
        for (let n = 0; n < 20; n += 1) await ctx.step(`s${n}`, () => n);
        await ctx.queue.next("m", { names: ["m"], ...(timeout && { timeout }) });
      });
      s.actor.crash();
      await s.send("m", 1);
      await s.world.pass(1);
      expect((await s.status()).status, `timeout ${timeout}`).toBe("completed");
    }
  });

  it.each(["nextBatch", "race with a sleep"])(
    "takes the message that wakes an evicted run at exactly its deadline (%s)",
    async (kind) => {
      for (const before of [0, 1, 5, 30]) {
        let got: unknown;
        const s = await subject(async (ctx) => {
          for (let n = 0; n < before; n += 1) await ctx.step(`s${n}`, () => n);
          if (kind === "nextBatch") got = (await ctx.queue.nextBatch("wait", { names: ["m"], timeout: HOUR })).length;
          else
            got = await ctx
              .race("r", [
                { name: "message", run: async (b) => (await b.queue.nextBatch("m", { names: ["m"] })).length },
                { name: "time", run: (b) => b.sleep("t", HOUR).then(() => 0) },
              ])
              .then(({ value }) => value);
        });
        s.actor.crash();
        s.clock.moveTo(s.clock.now() + HOUR);
        await s.send("m", "in time");
        await s.world.pass(1_000);
        expect(got, `${before} steps before it`).toBe(1);
      }
    },
  );
});
