import { describe, expect, it } from "vitest";
import { subject, type Ctx } from "../../workflow/subject.js";

// Work that a hook of the start begins, and that ends before the start does, must not release the lease of the start.
describe("what onWake keeps awake ends before the start does", () => {
  // oxlint-disable-next-line typescript/no-explicit-any
  const onWake = async (c: any): Promise<void> => {
    await c.keepAwake(Promise.resolve());
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };

  it("work that was cut off goes on", async () => {
    const runs: string[] = [];
    const s = await subject(
      async (ctx: Ctx, self) =>
        ctx.step("works", async () => {
          runs.push("began");
          await self.clock.delay(300);
          return "done";
        }),
      { config: { onWake } },
    );
    expect(runs).toEqual(["began"]);
    s.actor.crash();
    await s.world.pass(60_000);
    expect(runs).toEqual(["began", "began"]);
    expect(await s.status()).toMatchObject({ status: "completed", output: "done" });
  });

  it("a call that finds cut-off work takes it up", async () => {
    const s = await subject(
      async (ctx: Ctx, self) => ctx.step("works", async () => self.clock.delay(300).then(() => "done")),
      { config: { onWake } },
    );
    s.actor.crash();
    await s.call("get");
    await s.world.pass(600_000);
    expect(s.record()).toMatchObject({ status: "completed" });
  });

  it("a wait that is due ends", async () => {
    const s = await subject(async (ctx: Ctx) => ctx.sleep("s", 5_000), { config: { onWake } });
    s.actor.crash();
    await s.world.pass(60_000);
    expect(s.record()).toMatchObject({ status: "completed" });
  });

  it("a message that the hook sends is taken", async () => {
    const s = await subject(async (ctx: Ctx) => (await ctx.queue.next("wait", { names: ["q"] })).body, {
      config: {
        // oxlint-disable-next-line typescript/no-explicit-any
        onWake: async (c: any) => {
          if (c.state.log.push("woke") === 2) await c.queue.send("q", 7);
          await onWake(c);
        },
      },
    });
    s.actor.crash();
    await s.call("get");
    await s.world.pass(1_000);
    expect(s.record()).toMatchObject({ status: "completed" });
  });
});
