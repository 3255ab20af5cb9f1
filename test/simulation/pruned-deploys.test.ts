import { expect, it } from "vitest";
import { Loop } from "../../src/entry/workflow.js";
import { subject, type Ctx, type Subject } from "../workflow/subject.js";

const ROUNDS = 6;
const INNER = 3;

/** Rounds of two messages, with a loop in each that is pruned at every iteration; all are pruned every `interval` rounds. */
function rounds(interval: number): (ctx: Ctx) => Promise<unknown> {
  return async (ctx) =>
    ctx.loop({
      name: "rounds",
      state: 0,
      historyPruneInterval: interval,
      historySize: interval,
      run: async (round, n: number) => {
        const begin = await round.queue.next("message", { names: ["begin"] });
        await round.step("note", (step) => void step.state.log.push(begin.body));
        const end = await round.queue.next("message", { names: ["end"], completable: true });
        await round.loop({
          name: "inner",
          state: 0,
          historyPruneInterval: 1,
          historySize: 1,
          run: async (turn, m: number) => {
            await turn.step("note", (step) => void step.state.log.push(m));
            return m === INNER - 1 ? Loop.break() : Loop.continue(m + 1);
          },
        });
        await end.complete();
        return n === ROUNDS - 1 ? Loop.break(n) : Loop.continue(n + 1);
      },
    });
}

/** Dies once, at a commit, and is deployed with another interval before it comes back. Messages are sent until accepted. */
async function played(
  [before, after]: readonly [number, number],
  diesAt: number,
  how: "crash-before" | "crash-after",
): Promise<Subject> {
  let deaths = 0;
  const fault = (commit: number): typeof how | undefined => (commit === diesAt && deaths++ === 0 ? how : undefined);
  let s = await subject(rounds(before), { state: { log: [] }, queues: { begin: {}, end: {} }, fault });
  let isDeployed = false;
  for (let n = 0; n < ROUNDS; n += 1) {
    for (const queue of ["begin", "end"]) {
      const isSent = await s.send(queue, `${queue} ${n}`).then(
        () => true,
        () => false,
      );
      if (deaths > 0 && !isDeployed) {
        isDeployed = true;
        s = s.deploy(rounds(after));
      }
      if (!isSent && how === "crash-before") await s.send(queue, `${queue} ${n}`);
      await s.world.pass(30_000);
    }
  }
  return s;
}

// A start may find pruned iterations in part, of an interval that the code no longer has (FLOW-19).
it.each([
  [1, 3, "crash-before"],
  [1, 3, "crash-after"],
  [3, 1, "crash-before"],
  [3, 1, "crash-after"],
  [2, 20, "crash-before"],
  [2, 20, "crash-after"],
] as const)("a loop pruned every %d rounds, and every %d from its death by %s on", async (before, after, how) => {
  const log = Array.from({ length: ROUNDS }, (_, n) => [`begin ${n}`, ...Array.from({ length: INNER }, (__, m) => m)]);
  for (let diesAt = 3; diesAt < 60; diesAt += 1) {
    const s = await played([before, after], diesAt, how);
    expect((await s.state()) as unknown, `death at commit ${diesAt}`).toEqual({ log: log.flat() });
    expect(await s.status()).toMatchObject({ status: "completed", output: ROUNDS - 1 });
    expect(s.queued).toBe(0);
  }
});
