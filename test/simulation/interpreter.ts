import { actor, setup, workflow, type Registry } from "../../src/actor/index.js";
import { CriticalError, Loop } from "../../src/workflow/index.js";
import type { ManualClock } from "../../src/testing/index.js";
import type { Node, Program } from "./programs.js";

// oxlint-disable-next-line typescript/no-explicit-any -- the program is data, so its contexts have no static shape
type Ctx = any;
// oxlint-disable-next-line typescript/no-explicit-any -- as above
type Step = any;

/** How often a recurring job takes effect before it is over. */
export const OCCURRENCES = 3;

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
  /** Occurrences of recurring jobs, `job@time`, each with how often it took effect. */
  readonly recurred: Record<string, number>;
  /** Bodies of messages that an action completed. */
  readonly completed: string[];
}

/** What the test watches while the program runs. */
export interface Watch {
  /** The next step that ends well asks for the actor's end. */
  destroyInStep: boolean;
  /** Work that a crash would interrupt begins or ends in this life of the actor, in the current activation. */
  attempt(path: string, begins: boolean, life: string): void;
  /** The program's function is called. */
  began(): void;
  /** It waits for a message of these queues, or of any; or it waits no more. */
  waits(at: string, queues: readonly string[] | undefined): void;
  /** A client was told that this life has its message. */
  acknowledged(life: string, body: string): void;
  /** A client was told that its message was completed in this life. */
  completed(life: string, body: string): void;
  /** Something that must not happen did. */
  violation(what: string): void;
}

/** The program's actor under the name `subject`, and the same without its workflow. */
export function programRegistry(program: Program, clock: ManualClock, watch: Watch): { readonly whole: Registry; readonly withoutWorkflow: Registry } {
  const parts = {
    state: { finished: {}, undone: {}, undoneOrder: [], received: [], added: {}, ticked: {}, recurred: {}, completed: [] } as ProgramState,
    onDestroy: async () => {
      await clock.delay(4);
    },
    actions: {
      get: (c: Ctx) => c.state,
      add: async (c: Ctx, id: string) => {
        await clock.delay(2);
        c.state.added[id] = (c.state.added[id] ?? 0) + 1;
      },
      schedule: (c: Ctx, id: string, delayMs: number) => c.schedule.after(delayMs, "tick", id),
      tick: async (c: Ctx, id: string) => {
        watch.attempt(`tick ${id}`, true, c.actorId);
        try {
          await clock.delay(3);
          c.state.ticked[id] = (c.state.ticked[id] ?? 0) + 1;
        } finally {
          watch.attempt(`tick ${id}`, false, c.actorId);
        }
      },
      recur: (c: Ctx, id: string) => c.cron.every({ name: id, interval: 5_000, action: "occur", args: [id] }),
      /** The third one that takes effect ends the job. */
      occur: async (c: Ctx, id: string, { scheduledAt }: { scheduledAt: number }) => {
        const key = `${id}@${scheduledAt}`;
        watch.attempt(`occurrence ${key}`, true, c.actorId);
        try {
          await clock.delay(3);
          c.state.recurred[key] = (c.state.recurred[key] ?? 0) + 1;
          if (Object.keys(c.state.recurred).filter((each) => each.startsWith(`${id}@`)).length === OCCURRENCES) await c.cron.delete(id);
        } finally {
          watch.attempt(`occurrence ${key}`, false, c.actorId);
        }
      },
      complete: async (c: Ctx) => {
        const message = await c.queue.tryNext({ names: ["w"], completable: true });
        if (!message) return;
        c.state.completed.push(message.body);
        try {
          await message.complete(`did ${message.body}`);
        } catch (error) {
          c.state.completed.pop();
          throw error;
        }
      },
      destroy: (c: Ctx) => c.destroy(),
      destroyLater: (c: Ctx, delayMs: number) => c.schedule.after(delayMs, "destroy"),
      status: (c: Ctx) => c.workflow.status(),
    },
  };
  const run = workflow(async (ctx: Ctx) => {
    watch.began();
    await ctx.rollbackCheckpoint("checkpoint");
    await runBlock(ctx, program.body, "", false);
    if (program.fails) throw new Error("the program's end");
    return "done";
  });

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
            let runs = true;
            const end = (): void => {
              if (runs) watch.attempt(at, false, step.actorId);
              runs = false;
            };
            watch.attempt(at, true, step.actorId);
            // What lost a race, or belongs to a dead life, may run on; it is nothing that a crash would interrupt.
            step.abortSignal.addEventListener("abort", end, { once: true });
            try {
              if (node.delayMs > 0) await clock.delay(node.delayMs);
              if (step.attempt <= node.failures) throw new Error(`attempt ${step.attempt}`);
              if (watch.destroyInStep && !step.abortSignal.aborted) {
                watch.destroyInStep = false;
                step.destroy();
              }
              step.state.finished[at] = (step.state.finished[at] ?? 0) + 1;
              return at;
            } finally {
              step.abortSignal.removeEventListener("abort", end);
              end();
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

  async function receiveSome(ctx: Ctx, node: Node & { kind: "receive" }, at: string, options: object): Promise<unknown[]> {
    if (node.count > 0) return ctx.queue.nextBatch(node.name, { ...options, count: node.count });
    try {
      return [await ctx.queue.next(node.name, options)];
    } catch (error) {
      const { code, name } = error as { code?: string; name: string };
      // Code of a process that has died may still be here.
      if (code === "evicted" || name === "CrashError") throw error;
      if (code !== "timed_out") watch.violation(`receive ${at} failed with ${String(code ?? error)}`);
      return [];
    }
  }

  async function receive(ctx: Ctx, node: Node & { kind: "receive" }, at: string, inRace: boolean): Promise<number> {
    const options = { names: node.queues, completable: node.completable, ...(node.timeoutMs === undefined ? {} : { timeout: node.timeoutMs }) };
    watch.waits(at, node.queues);
    const messages = (await receiveSome(ctx, node, at, options).finally(() => watch.waits(at, undefined))) as { body: string; complete?: (response: string) => Promise<void> }[];
    const bodies = messages.map((message) => message.body);
    if (bodies.length > 0 && !inRace) {
      await ctx.step(`${node.name}-got`, (step: Step) => {
        step.state.received.push(...bodies);
      });
    }
    for (const message of messages) await message.complete?.(`did ${message.body}`);
    return bodies.length;
  }

  return {
    whole: setup({ use: { subject: actor({ ...parts, run }) } }) as unknown as Registry,
    withoutWorkflow: setup({ use: { subject: actor(parts) } }) as unknown as Registry,
  };
}
