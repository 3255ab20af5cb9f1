import { actor, setup, workflow, type Registry } from "../../src/actor/index.js";
import { CriticalError, Loop } from "../../src/workflow/index.js";
import type { ManualClock } from "../../src/testing/index.js";
import type { Node, Program } from "./programs.js";

/** What the program's actor keeps; all of it is changed only after a step's last await. */
export interface ProgramState {
  /** How often each step has finished, by its path. */
  readonly finished: Record<string, number>;
  /** How often each step was undone. */
  readonly undone: Record<string, number>;
  readonly undoneOrder: string[];
  /** Message bodies taken outside of races. */
  readonly received: string[];
  /** Ids of `add` calls and of scheduled ticks, each with how often it took effect. */
  readonly added: Record<string, number>;
  readonly ticked: Record<string, number>;
}

/** What the test watches while the program runs. */
export interface Watch {
  /** A step's callback begins or ends, in the current activation. */
  attempt(path: string, begins: boolean): void;
  /** Something that must not happen did. */
  violation(what: string): void;
}

export function programRegistry(program: Program, clock: ManualClock, watch: Watch): Registry {
  const subject = actor({
    state: { finished: {}, undone: {}, undoneOrder: [], received: [], added: {}, ticked: {} } as ProgramState,
    run: workflow(async (ctx) => {
      await ctx.rollbackCheckpoint("checkpoint");
      await runBlock(ctx, program.body, "", false);
      if (program.fails) throw new Error("the program's end");
      return "done";
    }),
    actions: {
      get: (c) => c.state,
      add: async (c, id: string) => {
        await clock.delay(2);
        c.state.added[id] = (c.state.added[id] ?? 0) + 1;
      },
      schedule: (c, id: string, delayMs: number) => c.schedule.after(delayMs, "tick", id),
      tick: async (c, id: string) => {
        await clock.delay(3);
        c.state.ticked[id] = (c.state.ticked[id] ?? 0) + 1;
      },
      status: (c) => c.workflow.status(),
    },
  });

  // biome-ignore lint: the program is data, so its contexts have no static shape
  type Ctx = any;
  // biome-ignore lint: see above
  type Step = any;

  async function runBlock(ctx: Ctx, body: readonly Node[], path: string, inRace: boolean): Promise<number> {
    let sum = 0;
    for (const node of body) sum += await runNode(ctx, node, path, inRace);
    return sum;
  }

  async function runNode(ctx: Ctx, node: Node, path: string, inRace: boolean): Promise<number> {
    if (node.kind === "foreign") {
      await clock.delay(node.delayMs);
      return 0;
    }
    const at = `${path}/${node.name}`;
    switch (node.kind) {
      case "step": {
        const value = await ctx.step({
          name: node.name,
          ephemeral: node.ephemeral,
          maxRetries: 3,
          run: async (step: Step) => {
            watch.attempt(at, true);
            try {
              if (node.delayMs > 0) await clock.delay(node.delayMs);
              if (step.attempt <= node.failures) throw new Error(`attempt ${step.attempt}`);
              step.state.finished[at] = (step.state.finished[at] ?? 0) + 1;
              return at;
            } finally {
              watch.attempt(at, false);
            }
          },
          ...(node.rollback
            ? {
                rollback: async (step: Step, output: string) => {
                  await clock.delay(3);
                  if (output !== at) watch.violation(`rollback of ${at} got ${output}`);
                  step.state.undone[at] = (step.state.undone[at] ?? 0) + 1;
                  step.state.undoneOrder.push(at);
                },
              }
            : {}),
        });
        if (value !== at) watch.violation(`step ${at} gave ${String(value)}`);
        return 1;
      }
      case "tryStep": {
        const result = await ctx.tryStep({
          name: node.name,
          maxRetries: 1,
          timeout: 50,
          run: async () => {
            if (node.end === "critical") throw new CriticalError("no");
            if (node.end === "exhausted") throw new Error("again");
            if (node.end === "timeout") await clock.delay(1_000);
            return 7;
          },
        });
        const kind = result.ok ? "ok" : result.failure.kind;
        const wasCutOff = !result.ok && result.failure.error.metadata?.code === "step_interrupted";
        if (kind !== node.end && !wasCutOff) watch.violation(`tryStep ${at} ended ${kind}, not ${node.end}`);
        return 1;
      }
      case "sleep":
        await ctx.sleep(node.name, node.durationMs);
        return 0;
      case "version":
        if ((await ctx.getVersion(node.name, 2)) !== 2) watch.violation(`version ${at} is an old one`);
        return 0;
      case "receive":
        return receive(ctx, node, at, inRace);
      case "join": {
        const branches = Object.fromEntries(
          node.branches.map((branch) => [branch.name, { run: (b: Ctx) => runBlock(b, branch.body, `${at}/${branch.name}`, inRace) }]),
        );
        const results = (await ctx.join(node.name, branches)) as Record<string, number>;
        return Object.values(results).reduce((a, b) => a + b, 0);
      }
      case "race": {
        const { value } = await ctx.race(
          node.name,
          node.branches.map((branch) => ({ name: branch.name, run: (b: Ctx) => runBlock(b, branch.body, `${at}/${branch.name}`, true) })),
        );
        return value;
      }
      case "loop":
        return ctx.loop({
          name: node.name,
          state: 0,
          historyPruneInterval: node.interval,
          run: async (l: Ctx, count: number) => {
            await runBlock(l, node.body, `${at}/~${count}`, inRace);
            return count + 1 >= node.times ? Loop.break(count + 1) : Loop.continue(count + 1);
          },
        });
      case "try": {
        const result = await ctx.try(node.name, async (t: Ctx) => {
          const sum = await runBlock(t, node.body, at, inRace);
          if (node.fails) {
            await t.step("fatal", () => {
              throw new CriticalError("in the block");
            });
          }
          return sum;
        });
        if (result.ok === node.fails) watch.violation(`try ${at} came out wrong`);
        return 0;
      }
    }
  }

  async function receive(ctx: Ctx, node: Node & { kind: "receive" }, at: string, inRace: boolean): Promise<number> {
    const options = { names: node.queues, timeout: node.timeoutMs, completable: node.completable };
    const messages = (node.count > 0
      ? await ctx.queue.nextBatch(node.name, { ...options, count: node.count })
      : [await ctx.queue.next(node.name, options).catch((error: { code?: string }) => {
          if (error.code === "evicted" && inRace) throw error;
          if (error.code !== "timed_out") watch.violation(`receive ${at} failed with ${String(error.code)}`);
        })].filter(Boolean)) as { body: string; complete?: () => Promise<void> }[];
    const bodies = messages.map((message) => message.body);
    if (bodies.length > 0 && !inRace) {
      await ctx.step(`${node.name}-got`, (step: Step) => {
        step.state.received.push(...bodies);
      });
    }
    for (const message of messages) await message.complete?.();
    return bodies.length;
  }

  return setup({ use: { subject } }) as unknown as Registry;
}
