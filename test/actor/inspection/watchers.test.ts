import { describe, expect, it } from "vitest";
import { actor, objectInspector, recordHistory, workflow, type AnyActorDefinition } from "../../../src/actor/index.js";
import { ENVELOPE_VERSION, fromErrorData } from "../../../src/protocol/index.js";
import type { MemorySocket, WorldActor } from "../../../src/testing/index.js";
import { single, type Single } from "../subject.js";
import { inspect } from "./inspect.js";

/** Begins to watch an actor, as the Worker does for an operator. */
async function watch(subject: WorldActor): Promise<MemorySocket> {
  const reply = await subject.awaitReply({
    v: ENVELOPE_VERSION,
    address: { name: subject.name, key: subject.key },
    creation: { mode: "get" },
    operation: { kind: "resolve", inspect: { about: "watch" } },
  });
  if (!reply.ok) throw fromErrorData(reply.error, reply.status);
  return reply.socket as MemorySocket;
}

/** What a watcher was told since it was asked last, each time sorted. */
function told({ frames }: MemorySocket): unknown[] {
  return frames.splice(0).map((frame) => (JSON.parse(String(frame)) as { changed: string[] }).changed.sort());
}

function watched({ hasHooks = false } = {}): Single & { readonly ran: string[] } {
  const ran: string[] = [];
  const definition = actor({
    state: { secret: "hush", n: 0 },
    onWake: () => void ran.push("onWake"),
    ...(hasHooks && {
      onConnect: () => void ran.push("onConnect"),
      onDisconnect: () => void ran.push("onDisconnect"),
    }),
    run: workflow(async (ctx) => {
      for (;;) await ctx.queue.next("next", { names: ["go"] }).then(() => ctx.step("work", () => "hush"));
    }),
    actions: {
      get: (c) => c.conns.size,
      add: (c) => void (c.state.n += 1),
      send: async (c) => void (await c.queue.send("other", "hush")),
      later: async (c) => void (await c.schedule.after(3_600_000, "get")),
      put: (c) => c.kv.put("secret", "hush"),
      end: (c) => c.destroy(),
    },
  });
  return {
    ...single(definition as unknown as AnyActorDefinition, { inspector: objectInspector(recordHistory) }),
    ran,
  };
}

describe("an operator who watches", () => {
  it("is told what each commit changed, by name, without values", async () => {
    const { world, subject } = watched();
    await subject.call("get");
    await world.settle();
    const socket = await watch(subject);
    expect(told(socket)).toEqual([]);
    const after = async (action: string): Promise<unknown[]> => {
      await subject.call(action);
      await world.settle();
      expect(socket.frames.join()).not.toContain("hush");
      return told(socket);
    };
    expect(await after("get")).toEqual([]);
    expect(await after("add")).toEqual([["state"]]);
    expect(await after("send")).toEqual([["queue"]]);
    expect(await after("later")).toEqual([["schedules"]]);
    expect(await after("put")).toEqual([["kv"]]);
    await inspect(subject, { about: "drain", by: "ada" });
    await world.settle();
    expect(told(socket)).toEqual([["audit", "queue"]]);
    await inspect(subject, { about: "cancel", by: "ada" });
    await world.settle();
    expect(told(socket).flat()).toEqual(expect.arrayContaining(["audit", "summary"]));
  });

  it("is no connection: nothing starts, no hook runs, nothing is stored, and the actor can leave memory", async () => {
    const { world, subject, ran } = watched({ hasHooks: true });
    await subject.call("get");
    await world.settle();
    await subject.evict();
    ran.splice(0);
    const before = [...subject.store.dump()];
    const socket = await watch(subject);
    await socket.hangUp(1000, "");
    const other = await watch(subject);
    await world.settle();
    expect(ran).toEqual([]);
    expect([...subject.store.dump()]).toEqual(before);
    expect(subject.timersHeld).toBe(0);
    // The call itself is one.
    expect(await subject.call("get")).toBe(1);
    await world.settle();
    expect(await inspect(subject, { about: "connections" })).toEqual({ items: [] });
    // The one who left is told no more; the one who stays is, also after an eviction.
    await subject.evict();
    await subject.call("add");
    await world.settle();
    expect(told(socket)).toEqual([]);
    expect(told(other).flat()).toContain("state");
  });

  it("sees nothing of a commit that did not last", async () => {
    const { world, subject } = watched();
    await subject.call("get");
    await world.settle();
    const socket = await watch(subject);
    const called = subject.call("add").catch(() => {});
    subject.crash();
    await called;
    await world.settle();
    expect(told(socket)).toEqual([]);
    expect(socket.isOpen).toBe(false);
  });

  it("needs an actor, of which there are thirty-two at a time, and ends with it", async () => {
    const { world, subject } = watched();
    await expect(watch(subject)).rejects.toMatchObject({ code: "not_found" });
    expect([...subject.store.dump()]).toEqual([]);
    await subject.call("get");
    const sockets = [];
    for (let i = 0; i < 32; i += 1) sockets.push(await watch(subject));
    await expect(watch(subject)).rejects.toMatchObject({ code: "too_many" });
    await sockets[0]?.hangUp(1000, "");
    await watch(subject);
    await subject.call("end");
    await world.settle();
    expect(sockets.at(-1)?.end).toEqual({ code: 1011, reason: "actor.destroyed" });
  });

  it("is refused without the inspector", async () => {
    const { subject } = single(actor({ actions: { touch: () => {} } }));
    await subject.call("touch");
    await expect(watch(subject)).rejects.toMatchObject({ code: "unsupported" });
  });
});
