import type { ManualClock } from "../../src/testing/index.js";
import { CriticalError, Loop } from "../../src/workflow/index.js";
import type { Watch } from "./program-state.js";
import type { Node } from "./programs.js";

// oxlint-disable-next-line typescript/no-explicit-any -- the program is data, so its contexts have no static shape
type Ctx = any;
// oxlint-disable-next-line typescript/no-explicit-any -- as above
type Step = any;

interface Message {
  readonly body: string;
  readonly complete?: (response: string) => Promise<void>;
}

type NodeOf<K extends Node["kind"]> = Node & { readonly kind: K };

/** Runs a program's operations, and checks what each gives. */
export class Interpreter {
  readonly #clock: ManualClock;
  readonly #watch: Watch;

  constructor(clock: ManualClock, watch: Watch) {
    this.#clock = clock;
    this.#watch = watch;
  }

  /** `path`: the names that lead to the block. Gives how much was done in it. */
  async block(ctx: Ctx, body: readonly Node[], path: string, inRace: boolean): Promise<number> {
    let sum = 0;
    for (const node of body) sum += await this.#node(ctx, node, path, inRace);
    return sum;
  }

  #node(ctx: Ctx, node: Node, path: string, inRace: boolean): Promise<number> {
    if (node.kind === "foreign") return this.#foreign(node);
    const at = `${path}/${node.name}`;
    switch (node.kind) {
      case "step":
        return this.#step(ctx, node, at);
      case "tryStep":
        return this.#tryStep(ctx, node, at);
      case "sleep":
        return this.#sleep(ctx, node);
      case "version":
        return this.#version(ctx, node, at);
      case "receive":
        return this.#receive(ctx, node, at, inRace);
      case "join":
        return this.#join(ctx, node, at, inRace);
      case "race":
        return this.#race(ctx, node, at);
      case "loop":
        return this.#loop(ctx, node, at, inRace);
      case "try":
        return this.#try(ctx, node, at, inRace);
    }
  }

  // ---- what is one operation, or none --------------------------------------------------------------------------------

  async #foreign(node: NodeOf<"foreign">): Promise<number> {
    await this.#clock.delay(node.delayMs);
    return 0;
  }

  async #sleep(ctx: Ctx, node: NodeOf<"sleep">): Promise<number> {
    await ctx.sleep(node.name, node.durationMs);
    return 0;
  }

  async #version(ctx: Ctx, node: NodeOf<"version">, at: string): Promise<number> {
    if ((await ctx.getVersion(node.name, 2)) !== 2) this.#watch.violation(`version ${at} is an old one`);
    return 0;
  }

  // ---- steps -------------------------------------------------------------------------------------------------------

  async #step(ctx: Ctx, node: NodeOf<"step">, at: string): Promise<number> {
    const value = await ctx.step({
      name: node.name,
      ephemeral: node.ephemeral,
      maxRetries: 3,
      // The clock of a simulation jumps ahead by more than the default.
      timeout: 0,
      run: (step: Step) => this.#attempt(step, node, at),
      ...(node.rollback ? { rollback: (step: Step, output: string) => this.#undo(step, output, at) } : {}),
    });
    if (value !== at) this.#watch.violation(`step ${at} gave ${String(value)}`);
    return 1;
  }

  async #attempt(step: Step, node: NodeOf<"step">, at: string): Promise<string> {
    const watch = this.#watch;
    let runs = true;
    const end = (): void => {
      if (runs) watch.attempt(at, false, step.actorId);
      runs = false;
    };
    watch.attempt(at, true, step.actorId);
    // What lost a race, or belongs to a dead life, may run on; it is nothing that a crash would interrupt.
    step.abortSignal.addEventListener("abort", end, { once: true });
    try {
      if (node.delayMs > 0) await this.#clock.delay(node.delayMs);
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
  }

  async #undo(step: Step, output: string, at: string): Promise<void> {
    await this.#clock.delay(3);
    if (output !== at) this.#watch.violation(`rollback of ${at} got ${output}`);
    step.state.undone[at] = (step.state.undone[at] ?? 0) + 1;
    step.state.undoneOrder.push(at);
  }

  async #tryStep(ctx: Ctx, node: NodeOf<"tryStep">, at: string): Promise<number> {
    const result = await ctx.tryStep({
      name: node.name,
      maxRetries: 1,
      timeout: 50,
      run: async () => {
        if (node.end === "critical") throw new CriticalError("no");
        if (node.end === "exhausted") throw new Error("again");
        if (node.end === "timeout") await this.#clock.delay(1_000);
        return 7;
      },
    });
    const kind = result.ok ? "ok" : result.failure.kind;
    const wasCutOff = !result.ok && result.failure.error.metadata?.code === "step_interrupted";
    if (kind !== node.end && !wasCutOff) this.#watch.violation(`tryStep ${at} ended ${kind}, not ${node.end}`);
    return 1;
  }

  // ---- blocks ------------------------------------------------------------------------------------------------------

  async #join(ctx: Ctx, node: NodeOf<"join" | "race">, at: string, inRace: boolean): Promise<number> {
    const branches = Object.fromEntries(
      node.branches.map((branch) => [
        branch.name,
        { run: (b: Ctx) => this.block(b, branch.body, `${at}/${branch.name}`, inRace) },
      ]),
    );
    const results = (await ctx.join(node.name, branches)) as Record<string, number>;
    return Object.values(results).reduce((a, b) => a + b, 0);
  }

  async #race(ctx: Ctx, node: NodeOf<"join" | "race">, at: string): Promise<number> {
    const { value } = await ctx.race(
      node.name,
      node.branches.map((branch) => ({
        name: branch.name,
        run: (b: Ctx) => this.block(b, branch.body, `${at}/${branch.name}`, true),
      })),
    );
    return value;
  }

  async #loop(ctx: Ctx, node: NodeOf<"loop">, at: string, inRace: boolean): Promise<number> {
    return ctx.loop({
      name: node.name,
      state: 0,
      historyPruneInterval: node.interval,
      run: async (l: Ctx, count: number) => {
        await this.block(l, node.body, `${at}/~${count}`, inRace);
        return count + 1 >= node.times ? Loop.break(count + 1) : Loop.continue(count + 1);
      },
    });
  }

  async #try(ctx: Ctx, node: NodeOf<"try">, at: string, inRace: boolean): Promise<number> {
    const result = await ctx.try(node.name, async (t: Ctx) => {
      const sum = await this.block(t, node.body, at, inRace);
      if (node.fails) {
        await t.step("fatal", () => {
          throw new CriticalError("in the block");
        });
      }
      return sum;
    });
    if (result.ok === node.fails) this.#watch.violation(`try ${at} came out wrong`);
    return 0;
  }

  // ---- messages ----------------------------------------------------------------------------------------------------

  async #receive(ctx: Ctx, node: NodeOf<"receive">, at: string, inRace: boolean): Promise<number> {
    const options = {
      names: node.queues,
      completable: node.completable,
      ...(node.timeoutMs === undefined ? {} : { timeout: node.timeoutMs }),
    };
    this.#watch.waits(at, node.queues);
    const messages = (await this.#messages(ctx, node, at, options).finally(() =>
      this.#watch.waits(at, undefined),
    )) as Message[];
    return this.#take(ctx, node, messages, inRace);
  }

  /** Keeps them in the state, unless a race may be lost, and completes those that can be. */
  async #take(ctx: Ctx, node: NodeOf<"receive">, messages: readonly Message[], inRace: boolean): Promise<number> {
    const bodies = messages.map((message) => message.body);
    if (bodies.length > 0 && !inRace) {
      await ctx.step(`${node.name}-got`, (step: Step) => {
        step.state.received.push(...bodies);
      });
    }
    for (const message of messages) await message.complete?.(`did ${message.body}`);
    return bodies.length;
  }

  async #messages(ctx: Ctx, node: NodeOf<"receive">, at: string, options: object): Promise<unknown[]> {
    if (node.count > 0) return ctx.queue.nextBatch(node.name, { ...options, count: node.count });
    try {
      return [await ctx.queue.next(node.name, options)];
    } catch (error) {
      const { code, name } = error as { code?: string; name: string };
      // Code of a process that has died may still be here.
      if (code === "evicted" || name === "CrashError") throw error;
      if (code !== "timed_out") this.#watch.violation(`receive ${at} failed with ${String(code ?? error)}`);
      return [];
    }
  }
}
