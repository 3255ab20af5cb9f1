import { describe, expect, it } from "vitest";
import { actor, setup, workflow } from "../../src/actor/index.js";
import { MAX_STORED_DEPTH } from "../../src/protocol/index.js";
import { Loop } from "../../src/workflow/index.js";
import { testWorld } from "../support/test-world.js";

/** A value that can be stored, but not one level deeper. */
function asDeepAsCanBe(): unknown {
  let value: unknown = 1;
  for (let depth = 0; depth < MAX_STORED_DEPTH; depth += 1) value = [value];
  return value;
}

describe("what cannot be recorded", () => {
  it("fails a race, and its losers end all the same (FLOW-18)", async () => {
    const ran: string[] = [];
    const world = testWorld(
      setup({
        use: {
          a: actor({
            run: workflow(async (ctx) => {
              await ctx
                .race("r", [
                  { name: "deep", run: async () => asDeepAsCanBe() },
                  {
                    name: "loser",
                    run: async (b) => {
                      await b.sleep("wait", 100);
                      await b.step("charge", () => void ran.push("charge"));
                    },
                  },
                ])
                .catch(() => ran.push("failed"));
              await ctx.sleep("later", 1_000);
            }),
            actions: {
              status: (c) => c.workflow.status(),
              history: (c) => c.workflow.history().map((entry) => `${entry.location.join("/")} ${entry.status}`),
            },
          }),
        },
      }) as never,
    );
    await world.actor("a").call("status");
    await world.passUntilQuiet();
    expect(ran).toEqual(["failed"]);
    expect(await world.actor("a").call("status")).toMatchObject({ status: "completed" });
    expect(await world.actor("a").call("history")).toContain("r failed");
  });

  it("is a loop's result that Loop did not make: an error, not another round (D42)", async () => {
    let rounds = 0;
    const world = testWorld(
      setup({
        use: {
          a: actor({
            run: workflow(async (ctx) => {
              await ctx.loop({
                name: "l",
                state: 0,
                run: async (l, state) => {
                  rounds += 1;
                  await l.sleep("s", 1);
                  return { continue: true, state: state + 1 } as ReturnType<typeof Loop.continue<number>>;
                },
              });
            }),
            actions: { status: (c) => c.workflow.status() },
          }),
        },
      }) as never,
    );
    await world.actor("a").call("status");
    await world.passUntilQuiet();
    expect(await world.actor("a").call("status")).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("Loop.continue") },
    });
    expect(rounds).toBe(1);
  });
});
