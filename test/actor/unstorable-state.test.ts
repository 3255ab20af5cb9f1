import { describe, expect, it } from "vitest";
import { actor, setup, workflow } from "../../src/actor/index.js";
import { ManualClock } from "../../src/testing/index.js";
import { testWorld } from "../support/test-world.js";

interface Kept {
  blob: string;
  list: number[];
  self?: unknown;
}

function subject() {
  const clock = new ManualClock();
  const a = actor({
    state: { blob: "", list: [] } as Kept,
    run: workflow(async (ctx) => {
      await ctx.queue.next("go");
      await ctx.step("too much", async (step) => {
        step.state.blob = "x".repeat(3_000_000);
        await clock.delay(5);
      });
    }),
    actions: {
      tooMuch: async (c) => {
        c.state.blob = "x".repeat(3_000_000);
        await clock.delay(5);
      },
      cycle: async (c) => {
        c.state.self = c.state;
        await clock.delay(5);
      },
      push: async (c) => {
        const { list } = c.state;
        await clock.delay(5);
        list.push(1);
      },
      get: (c) => ({ ...c.state }),
      status: (c) => c.workflow.status().status,
    },
  });
  const world = testWorld(setup({ use: { a } }) as never, { clock });
  const act = async (action: string): Promise<unknown> => {
    const reply = world.actor("a").call(action).catch((error: { code: string }) => error.code);
    await world.pass(10);
    return reply;
  };
  return { world, act };
}

describe("a state that cannot be stored", () => {
  it("is told to the action that made it, also when a turn has ended in between, and what was stored stays (C8)", async () => {
    const { act } = subject();
    await act("push");
    expect(await act("tooMuch")).toBe("too_large");
    expect(await act("cycle")).toBe("not_serializable");
    expect(await act("get")).toEqual({ blob: "", list: [1] });
  });

  it("fails the step that made it", async () => {
    const { world, act } = subject();
    await act("get");
    await world.actor("a").send({ mode: "get" }, { kind: "send", queue: "go", body: new Uint8Array([0xf6]) });
    await world.passUntilQuiet();
    expect(await act("status")).toBe("failed");
    expect(await act("get")).toEqual({ blob: "", list: [] });
  });

  it("is told to every action that ran beside it: what they changed may be gone with it (C5)", async () => {
    const { world, act } = subject();
    await act("get");
    const pushed = world.actor("a").call("push").catch((error: { code: string }) => error.code);
    expect(await act("tooMuch")).toBe("too_large");
    expect(await pushed).toBe("too_large");
    await act("push");
    expect(await act("get")).toEqual({ blob: "", list: [1] });
  });
});
