import {
  actor,
  setup,
  workflow,
  type Registry,
  type WorkflowHistoryEntry,
  type WorkflowPlan,
} from "../../src/actor/index.js";
import { Loop } from "../../src/workflow/index.js";
import type { ManualClock } from "../../src/testing/index.js";
import type { Node } from "./owner-programs.js";

// oxlint-disable-next-line typescript/no-explicit-any -- the program is data, so its contexts have no static shape
type Ctx = any;
type Location = readonly (string | number)[];

export interface OwnerState {
  /** How often each step has taken effect, less how often it was undone; by location. */
  readonly net: Record<string, number>;
}

/** What the test is told while the program runs. */
export interface OwnerWatch {
  /** Steps, and their rollbacks, that fail until they are repaired. */
  readonly broken: ReadonlySet<string>;
  /** A wait at a location is over for the code. */
  waited(location: Location, timedOut: boolean, queues: readonly string[] | undefined): void;
  /** The code has a placeholder there. */
  placeholder(location: Location): void;
  answered(location: Location, version: number): void;
  /** An attempt of the step at a location begins. */
  attempted(location: Location): void;
  /** An act came out otherwise than its dry run had told. */
  planned(plan: WorkflowPlan, wrong: string): void;
  /** The function is called. */
  began(): void;
  /** The last hook of a start. */
  woke(workflow: { recover(): void }): Promise<void>;
}

/** The actor `subject` under one program. `undoes`: the first one had something to undo, so all have a checkpoint. */
export function ownerRegistry(
  program: readonly Node[],
  undoes: boolean,
  clock: ManualClock,
  watch: OwnerWatch,
): Registry {
  const interpreter = new OwnerInterpreter(clock, watch);
  const checked = (c: Ctx, act: (options?: object) => WorkflowPlan | undefined): void => {
    const before = c.workflow.history({ values: false }) as WorkflowHistoryEntry[];
    const plan = act({ dryRun: true }) as WorkflowPlan;
    const unchanged = c.workflow.history({ values: false }) as WorkflowHistoryEntry[];
    if (JSON.stringify(before) !== JSON.stringify(unchanged)) watch.planned(plan, "and the dry run changed something");
    act();
    const wrong = differenceOf(plan, before, c.workflow.history({ values: false }));
    if (wrong) watch.planned(plan, wrong);
  };
  const run = workflow(async (ctx: Ctx) => {
    watch.began();
    if (undoes) await ctx.rollbackCheckpoint("checkpoint");
    await interpreter.block(ctx, program, []);
    return "done";
  });

  const subject = actor({
    state: { net: {} } as OwnerState,
    onWake: (c: Ctx) => watch.woke(c.workflow),
    run,
    actions: {
      get: (c: Ctx) => c.state,
      status: (c: Ctx) => c.workflow.status(),
      ids: (c: Ctx) => c.workflow.history().map((entry: { id: string }) => entry.id),
      /** A step that failed, or waits for its next attempt. */
      held: (c: Ctx) =>
        (c.workflow.history({ values: false }) as WorkflowHistoryEntry[]).findLast(
          ({ kind, status, dueAt }) => kind === "step" && (status === "failed" || dueAt !== undefined),
        )?.id,
      pause: (c: Ctx) => c.workflow.pause("an owner"),
      resume: (c: Ctx) => checked(c, (options) => c.workflow.resume(options)),
      retry: (c: Ctx) => checked(c, (options) => c.workflow.retry(options)),
      recover: (c: Ctx) => checked(c, (options) => c.workflow.recover(options)),
      cancel: (c: Ctx, rollback: boolean) => checked(c, (options) => c.workflow.cancel({ ...options, rollback })),
      skip: (c: Ctx, id: string) => checked(c, (options) => c.workflow.skip(id, "by hand", options)),
      replayFrom: (c: Ctx, id?: string) => checked(c, (options) => c.workflow.replayFrom(id, options)),
    },
  });
  return setup({ use: { subject } }) as unknown as Registry;
}

/** What an act did otherwise than its dry run had told. */
function differenceOf(
  plan: WorkflowPlan,
  before: readonly WorkflowHistoryEntry[],
  after: readonly WorkflowHistoryEntry[],
): string | undefined {
  const now = new Map(after.map((entry) => [entry.id, entry]));
  const hasEnded = (status: string | undefined): boolean => status === "completed" || status === "failed";
  const gone = before.filter(({ id }) => !now.has(id)).map(({ id }) => id);
  const reopened = before.filter(({ id, status }) => hasEnded(status) && now.has(id) && !hasEnded(now.get(id)?.status));
  const ended = new Set(before.filter(({ status }) => hasEnded(status)).map(({ id }) => id));
  const listed = [...plan.deleted, ...plan.again, ...plan.kept].sort((a, b) => Number(a) - Number(b));
  const checks = {
    deleted: [plan.deleted, gone],
    again: [plan.again.filter((id) => ended.has(id)), reopened.map(({ id }) => id)],
    all: [listed, before.map(({ id }) => id)],
  };
  const wrong = Object.entries(checks).find(([, [told, seen]]) => JSON.stringify(told) !== JSON.stringify(seen));
  return wrong && `${wrong[0]}: told ${String(wrong[1][0])}, and were ${String(wrong[1][1])}`;
}

/** Runs a program's operations, and tells what each wait and gate came to. */
class OwnerInterpreter {
  readonly #clock: ManualClock;
  readonly #watch: OwnerWatch;

  constructor(clock: ManualClock, watch: OwnerWatch) {
    this.#clock = clock;
    this.#watch = watch;
  }

  async block(ctx: Ctx, body: readonly Node[], scope: Location): Promise<void> {
    const receives = new Map<string, number>();
    for (const node of body) {
      if (node.kind !== "receive") {
        await this.#node(ctx, node, scope);
        continue;
      }
      // A name's receives are told apart by their number.
      const ordinal = receives.get(node.name) ?? 0;
      receives.set(node.name, ordinal + 1);
      await this.#receive(ctx, node, ordinal === 0 ? [...scope, node.name] : [...scope, node.name, ordinal]);
    }
  }

  #step(
    ctx: Ctx,
    node: { name: string; delayMs: number; rollback: boolean; flaky: boolean },
    scope: Location,
  ): Promise<unknown> {
    const key = JSON.stringify([...scope, node.name]);
    const path = `/${[...scope, node.name].filter((segment) => typeof segment === "string").join("/")}`;
    return ctx.step({
      name: node.name,
      maxRetries: node.flaky ? 1 : 0,
      retryBackoffBase: 700,
      run: async (s: Ctx) => {
        this.#watch.attempted([...scope, node.name]);
        if (node.delayMs > 0) await this.#clock.delay(node.delayMs);
        if (this.#watch.broken.has(path) || (node.flaky && s.attempt === 1)) throw new Error(`${path} is broken`);
        if (!s.abortSignal.aborted) s.state.net[key] = (s.state.net[key] ?? 0) + 1;
      },
      ...(node.rollback && {
        rollback: (s: Ctx) => {
          if (this.#watch.broken.has(`undo ${path}`)) throw new Error(`undo ${path} is broken`);
          s.state.net[key] = (s.state.net[key] ?? 0) - 1;
        },
      }),
    });
  }

  async #node(ctx: Ctx, node: Exclude<Node, { kind: "receive" }>, scope: Location): Promise<void> {
    const at = [...scope, node.name];
    switch (node.kind) {
      case "step":
        return void (await this.#step(ctx, node, scope));
      case "sleep":
        await ctx.sleep(node.name, node.durationMs);
        return this.#watch.waited(at, true, undefined);
      case "join":
        return void (await ctx.join(
          node.name,
          Object.fromEntries(
            node.branches.map((branch) => [
              branch.name,
              { run: (b: Ctx) => this.block(b, branch.body, [...at, branch.name]) },
            ]),
          ),
        ));
      case "race":
        return void (await ctx.race(
          node.name,
          node.branches.map((branch) => ({
            name: branch.name,
            run: (b: Ctx) => this.block(b, branch.body, [...at, branch.name]),
          })),
        ));
      case "loop":
        return ctx.loop({
          name: node.name,
          state: 0,
          run: async (round: Ctx, count: number) => {
            await this.block(round, node.body, [...at, count]);
            return count + 1 >= node.times ? Loop.break() : Loop.continue(count + 1);
          },
        });
      case "try":
        return void (await ctx.try(node.name, (block: Ctx) => this.block(block, node.body, at)));
      case "guard": {
        const then = (): Promise<unknown> =>
          this.#step(ctx, { name: `${node.name}-then`, delayMs: 3, rollback: false, flaky: false }, scope);
        if (node.when === "finally") return this.block(ctx, node.body, scope).finally(then);
        return this.block(ctx, node.body, scope).catch(async (error: unknown) => {
          await then();
          throw node.wraps ? new Error("wrapped", { cause: error }) : error;
        });
      }
      case "gate": {
        const version = await ctx.getVersion(node.name, node.latest);
        this.#watch.answered(at, version);
        if (version > 1) await this.block(ctx, node.body, scope);
        return;
      }
      case "removed":
        this.#watch.placeholder(at);
        return ctx.removed(node.name, node.original);
    }
  }

  async #receive(ctx: Ctx, node: Node & { kind: "receive" }, at: Location): Promise<void> {
    const options = { names: node.queues, timeout: node.timeoutMs, completable: node.completable };
    let messages: { complete?: () => Promise<void> }[] = [];
    try {
      messages =
        node.count > 0
          ? await ctx.queue.nextBatch(node.name, { ...options, count: node.count })
          : [await ctx.queue.next(node.name, options)];
    } catch (error) {
      if ((error as { code?: string }).code !== "timed_out") throw error;
      this.#watch.waited(at, true, node.queues);
      if (!node.handled) throw error;
      return;
    }
    this.#watch.waited(at, messages.length === 0, node.queues);
    for (const message of messages) await message.complete?.();
  }
}
