/** The types of a workflow's contexts. The engine behind them is untyped. */
import type { ClientFor } from "./client-types.js";
import type { EventArgs, EventNames } from "./connection-types.js";
import type { Env } from "./env.js";
import type { EventDeclarations, QueueDeclarations } from "./declarations.js";
import type {
  EntryKind,
  LoopBreak,
  LoopContinue,
  TryBlockCatchKind,
  TryBlockFailure,
  TryStepCatchKind,
  TryStepFailure,
  WorkflowError,
} from "../../workflow/index.js";
import type { ActorCron } from "./schedule-types.js";
import type { Logger } from "../ports.js";
import type { StepQueueOf, WorkflowQueueOf } from "./queue-types.js";
import type { ActorDefinition, ActorSchedule } from "./contexts.js";

/**
 * The context of a step's callback. It is valid only while the attempt runs: afterwards its members, and every object
 * read from `state`, throw `workflow/step_ended`.
 */
// oxlint-disable-next-line no-unused-vars -- all contexts take the same parameters in the same order
export interface WorkflowStepContext<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  readonly actorId: string;
  /** The actor's name in `setup({ use })`. */
  readonly name: string;
  /** The actor's key as its parts. */
  readonly key: string[];
  /**
   * The Worker's bindings, variables and secrets: the global `Cloudflare.Env`.
   *
   * @example
   *     await ctx.step("mail", (step) => mail(step.key[0], step.env.MAIL_KEY));
   */
  readonly env: Env;
  readonly log: Logger;
  /**
   * Aborted when the attempt times out, its branch loses a race, or the workflow is cancelled or its actor destroyed.
   *
   * @example
   *     const response = await fetch(url, { signal: step.abortSignal });
   */
  readonly abortSignal: AbortSignal;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** How many retries may follow the first attempt. */
  readonly maxRetries: number;
  /**
   * The actor's state: a live object. Changes made after the callback's last `await` are stored exactly once, together
   * with the step's result. Earlier changes may be stored before it, and a later attempt sees them.
   *
   * @example
   *     await ctx.step("ship", async (step) => {
   *       const id = await ship(step.key); // may run again after a crash
   *       step.state.shipment = id; // stored together with the step's result
   *     });
   */
  state: S;
  /** The actor's vars, in memory only. */
  vars: V;
  /**
   * The actor's SQL database. Statements executed after the callback's last `await` (of anything but statements) are
   * committed together with the step's result. Earlier statements and transactions are committed on their own, and a
   * later attempt sees them.
   *
   * @example
   *     await step.db.execute("insert into invoices values (?, ?)", number, cents);
   */
  readonly db: DB;
  /**
   * Sends an event at once, after all changes so far are committed, even if the attempt fails later.
   *
   * @example
   *     step.broadcast("progress", 0.5);
   */
  broadcast<N extends EventNames<E>>(name: N, ...args: EventArgs<E, N>): void;
  /**
   * Returns a client of the same registry. A later attempt makes its calls again, so they run at least once.
   *
   * @example
   *     await step.client<typeof registry>().inventory.getOrCreate("tea").reserve(2);
   */
  client<R = any>(): ClientFor<R>;
  /** Runs actions of this actor later. */
  readonly schedule: ActorSchedule;
  /** Runs actions of this actor again and again. */
  readonly cron: ActorCron;
  /** Sends messages to this actor, stored together with the step's result. */
  readonly queue: StepQueueOf<Q>;
  /**
   * Destroys the actor once this attempt has ended.
   *
   * @example
   *     await ctx.step("clean-up", (step) => step.destroy());
   */
  destroy(): void;
  /** Keeps the actor awake until the promise settles, also after the step, and returns the same promise. */
  keepAwake<T>(promise: Promise<T>): Promise<T>;
  /** Lets a promise run in the background after the step; its rejection is logged. */
  waitUntil(promise: Promise<unknown>): void;
}

/** Options of a step. All durations are in ms. */
export interface WorkflowStepConfig<C, T> {
  /** The step's name in the history, unique in its scope. */
  readonly name: string;
  /** Does the step's work; runs again until it succeeds once. */
  readonly run: (step: C) => T | Promise<T>;
  /** Undoes the step if the workflow fails later. Needs a `rollbackCheckpoint` before it. May run more than once. */
  readonly rollback?: (step: C, output: T) => void | Promise<void>;
  /** Makes no commit for the step's result: the next commit stores it. Default: false. */
  readonly ephemeral?: boolean;
  /** Attempts after the first one. Default: 3; `Infinity`: until one succeeds. */
  readonly maxRetries?: number;
  /** Delay after the n-th failure: `min(retryBackoffMax, retryBackoffBase · 2ⁿ)`. Default: 100. */
  readonly retryBackoffBase?: number;
  /** The longest delay between two attempts. Default: 30,000. */
  readonly retryBackoffMax?: number;
  /** How long one attempt may take. Default: 30,000; 0 or `Infinity`: no limit. */
  readonly timeout?: number;
  /** Retries an attempt that timed out. Default: false, a timeout fails the step. */
  readonly retryOnTimeout?: boolean;
}

/** Options of `tryStep`. */
export interface WorkflowTryStepConfig<C, T> extends WorkflowStepConfig<C, T> {
  /** The failures that become results. Default: `["critical", "timeout", "exhausted"]`. */
  readonly catch?: readonly TryStepCatchKind[];
}
/** The result of `tryStep`: the step's value, or its failure. */
export type TryStepResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: TryStepFailure };

/** Options of `try`. */
export interface WorkflowTryConfig<C, T> {
  /** The block's name in the history, unique in its scope. */
  readonly name: string;
  readonly run: (ctx: C) => T | Promise<T>;
  /** The failures that become results. Default: `["step", "join", "race"]`. */
  readonly catch?: readonly TryBlockCatchKind[];
}
/** The result of `try`: the block's value, or the failure that ended it. */
export type TryBlockResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: TryBlockFailure };

/** Options of a loop. */
export interface WorkflowLoopConfig<C, S, T> {
  /** The loop's name in the history, unique in its scope. */
  readonly name: string;
  /** The state of the first iteration. */
  readonly state?: S;
  /** Runs one iteration. Returns `Loop.continue(state)`, `Loop.break(value)`, or nothing if the loop has no state. */
  readonly run: (ctx: C, state: S) => LoopResult<S, T> | Promise<LoopResult<S, T>>;
  /** How many iterations pass between two deletions of old ones from the history. Default: 20. */
  readonly historyPruneInterval?: number;
  /** How many finished iterations the history keeps. Default: `historyPruneInterval`. */
  readonly historySize?: number;
  /** @deprecated Use `historyPruneInterval`. */
  readonly commitInterval?: number;
  /** @deprecated Use `historyPruneInterval`. */
  readonly historyEvery?: number;
  /** @deprecated Use `historySize`. */
  readonly historyKeep?: number;
}

/** What a loop's callback returns: `Loop.continue(state)`, `Loop.break(value)`, or nothing if the loop has no state. */
export type LoopResult<S, T> = LoopContinue<S> | LoopBreak<T> | undefined | void;
/** The value a loop ends with. */
export type LoopValue<R> = R extends LoopBreak<infer T> ? T : never;

/** A branch of a join. */
export interface WorkflowBranchConfig<C, T> {
  readonly run: (ctx: C) => T | Promise<T>;
}
/** A branch of a race. */
export interface WorkflowRaceBranch<C, T, N extends string = string> extends WorkflowBranchConfig<C, T> {
  readonly name: N;
}

/** The result of a race: the name of the branch that won, and its value. */
export type RaceResult<B> =
  B extends WorkflowRaceBranch<never, unknown> ? { winner: B["name"]; value: Awaited<ReturnType<B["run"]>> } : never;

/**
 * The context of a workflow. Everything awaited through it is recorded: after a crash, a deploy or an eviction the
 * workflow runs again from its first line, and recorded operations return their results without running again. Names
 * must be unique in their scope: the workflow, an iteration, a branch or a `try` block.
 */
export interface WorkflowContext<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  readonly workflowId: string;
  readonly actorId: string;
  /** The actor's name in `setup({ use })`. */
  readonly name: string;
  /** The actor's key as its parts. */
  readonly key: string[];
  /**
   * The Worker's bindings, variables and secrets: the global `Cloudflare.Env`. Use bindings in steps. Nothing read here
   * is recorded: a deploy that changes a variable changes it for workflows in flight too, and one that branches on it
   * may diverge. Read such a variable in a step.
   *
   * @example
   *     const days = await ctx.step("trial", (step) => Number(step.env.TRIAL_DAYS));
   */
  readonly env: Env;
  /** A logger. A replay does not log again what was logged before. */
  readonly log: Logger;
  /**
   * Aborted when this scope ends early: its branch loses a race, or the workflow is cancelled, evicted or destroyed.
   */
  readonly abortSignal: AbortSignal;
  /** Whether `abortSignal` has fired. */
  isEvicted(): boolean;
  /**
   * Runs a callback until it succeeds once, and stores its result. Every replay returns the stored result; the callback
   * never runs again. It runs at least once, so give external calls an idempotency key.
   *
   * State changes made after the callback's last `await` are stored exactly once, together with the result. The step
   * also waits for work it began and did not await (an asynchronous validator, a transaction); then changes made before
   * the end of that work may be stored earlier, like those before an `await`.
   *
   * @example
   *     const receipt = await ctx.step("charge", (step) => charge(step.key, step.abortSignal));
   * @throws {workflow/step_exhausted} when every attempt has failed (`StepExhaustedError`; `cause` is the last error)
   * @throws {workflow/critical} when the callback throws a `CriticalError`
   * @throws {workflow/rollback} when the callback throws a `RollbackError`
   */
  step<T>(name: string, run: (step: WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>) => T | Promise<T>): Promise<T>;
  step<T>(config: WorkflowStepConfig<WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>, T>): Promise<T>;
  /**
   * Runs a step and returns its final failure as a value instead of throwing it. Retries come first.
   *
   * @example
   *     const price = await ctx.tryStep("price", fetchPrice);
   *     if (!price.ok) ctx.log.warn("no price", { kind: price.failure.kind });
   */
  tryStep<T>(
    name: string,
    run: (step: WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>) => T | Promise<T>,
  ): Promise<TryStepResult<T>>;
  tryStep<T>(
    config: WorkflowTryStepConfig<WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>, T>,
  ): Promise<TryStepResult<T>>;
  /**
   * Runs a block in its own scope and returns a final failure of its steps, joins and races as a value. Errors of the
   * block's own code are thrown.
   *
   * @example
   *     const estimate = await ctx.try("estimate", async (block) => {
   *       return (await block.step("parts", priceOfParts)) + (await block.step("labour", priceOfLabour));
   *     });
   */
  try<T>(
    name: string,
    run: (ctx: WorkflowContext<S, CP, CS, V, I, DB, E, Q>) => T | Promise<T>,
  ): Promise<TryBlockResult<T>>;
  try<T>(config: WorkflowTryConfig<WorkflowContext<S, CP, CS, V, I, DB, E, Q>, T>): Promise<TryBlockResult<T>>;
  /**
   * Runs a callback again and again until it returns `Loop.break(value)`, and returns that value. The position is
   * durable: finished iterations never run again, and old ones are deleted from the history.
   *
   * @example
   *     const card = await ctx.loop("shopping", async (loop) => {
   *       const { name, body } = await loop.queue.next("next-command");
   *       if (name === "checkout") return Loop.break(body.card);
   *       await loop.step("add", (step) => void step.state.items.push(body.item));
   *     });
   */
  loop<T = undefined>(
    name: string,
    run: (
      ctx: WorkflowContext<S, CP, CS, V, I, DB, E, Q>,
    ) => LoopResult<undefined, T> | Promise<LoopResult<undefined, T>>,
  ): Promise<T>;
  loop<LS = undefined, T = undefined>(
    config: WorkflowLoopConfig<WorkflowContext<S, CP, CS, V, I, DB, E, Q>, LS, T>,
  ): Promise<T>;
  /** Runs a loop that breaks with values of several types, and returns their union. */
  loop<R extends LoopResult<undefined, unknown>>(
    name: string,
    run: (ctx: WorkflowContext<S, CP, CS, V, I, DB, E, Q>) => R | Promise<R>,
  ): Promise<LoopValue<R>>;
  /**
   * Runs branches in parallel, waits for all, and returns their values by name.
   *
   * @example
   *     const { flight, hotel } = await ctx.join("book", {
   *       flight: { run: (branch) => branch.step("flight", bookFlight) },
   *       hotel: { run: (branch) => branch.step("hotel", bookHotel) },
   *     });
   * @throws {workflow/join_failed} when a branch fails (`JoinError`; `errors` has each failure by branch)
   */
  join<B extends Record<string, WorkflowBranchConfig<WorkflowContext<S, CP, CS, V, I, DB, E, Q>, unknown>>>(
    name: string,
    branches: B,
  ): Promise<{ [K in keyof B]: Awaited<ReturnType<B[K]["run"]>> }>;
  /**
   * Runs branches in parallel and returns the first that fulfils; the others end. A failed branch does not end the
   * race.
   *
   * @example
   *     const { winner } = await ctx.race("answer", [
   *       { name: "reply", run: (branch) => branch.queue.next("reply") },
   *       { name: "timeout", run: (branch) => branch.sleep("wait", 60_000) },
   *     ]);
   * @throws {workflow/race_failed} when every branch fails (`RaceError`)
   */
  race<T, N extends string = string>(
    name: string,
    branches: readonly WorkflowRaceBranch<WorkflowContext<S, CP, CS, V, I, DB, E, Q>, T, N>[],
  ): Promise<{ winner: N; value: T }>;
  /** Runs a race of branches with results of several types; the winner's name tells which. */
  race<const B extends readonly WorkflowRaceBranch<WorkflowContext<S, CP, CS, V, I, DB, E, Q>, unknown>[]>(
    name: string,
    branches: B,
  ): Promise<RaceResult<B[number]>>;
  /**
   * The actor's queues, as durable waits.
   *
   * @example
   *     const { body } = await ctx.queue.next("wait-order");
   */
  readonly queue: WorkflowQueueOf<Q>;
  /**
   * Allows steps after it to have a `rollback`.
   *
   * @example
   *     await ctx.rollbackCheckpoint("begin");
   *     await ctx.step({ name: "hotel", run: bookHotel, rollback: cancelHotel });
   */
  rollbackCheckpoint(name: string): Promise<void>;
  /**
   * Takes the place of an operation that the code no longer has, so that existing histories still match.
   *
   * @example
   *     await ctx.removed("send-fax", "step");
   */
  removed(name: string, originalKind: EntryKind | "try"): Promise<void>;
  /**
   * Returns the version of the code this workflow follows, always the same one: 1 if it passed this point before the
   * gate existed, otherwise `latest`.
   *
   * @example
   *     if ((await ctx.getVersion("new-mail", 2)) >= 2) await ctx.step("mail-v2", mail);
   */
  getVersion(name: string, latest: number): Promise<number>;
  /**
   * Waits durably for `durationMs` ms. The deadline is stored; nothing runs and nothing is billed meanwhile.
   *
   * @example
   *     await ctx.sleep("trial", 14 * 86_400_000);
   * @throws {workflow/invalid_time} when the duration is not a valid number of ms
   */
  sleep(name: string, durationMs: number): Promise<void>;
  /**
   * Waits durably until a `Date` or a time in epoch ms. A past time completes at once.
   *
   * @example
   *     await ctx.sleepUntil("new-year", Date.UTC(2027, 0, 1));
   * @throws {workflow/invalid_time} when the time is not valid
   */
  sleepUntil(name: string, time: number | Date): Promise<void>;
}

/**
 * The step context of an actor, for functions that steps call.
 *
 * @example
 *     async function save(step: WorkflowStepContextOf<typeof cart>, item: string): Promise<void> {}
 */
export type WorkflowStepContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer I, infer DB, infer E, infer Q, infer _M>
    ? WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>
    : never;
/**
 * The workflow context of an actor, for functions that workflows call. Loops and branches have the same one.
 *
 * @example
 *     async function checkout(ctx: WorkflowContextOf<typeof cart>): Promise<void> {}
 */
export type WorkflowContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer I, infer DB, infer E, infer Q, infer _M>
    ? WorkflowContext<S, CP, CS, V, I, DB, E, Q>
    : never;
/** The context of an actor's loops: `WorkflowContextOf`. */
export type WorkflowLoopContextOf<D> = WorkflowContextOf<D>;
/** The context of an actor's branches: `WorkflowContextOf`. */
export type WorkflowBranchContextOf<D> = WorkflowContextOf<D>;

/** Options of `workflow()`. */
export interface WorkflowOptions<C> {
  /**
   * Runs after each failed attempt, failed rollback handler and failed workflow: at least once for each. It is awaited;
   * its own errors are logged.
   *
   * @example
   *     onError: (c, event) => void (event.step?.willRetry || c.log.error("workflow failed", { event })),
   */
  readonly onError?: (c: C, event: WorkflowErrorEvent) => unknown;
}

/** A failure as `onError` gets it: `step`, `rollback` or `workflow`. Durations in ms, times in epoch ms. */
export type WorkflowErrorEvent =
  | {
      readonly step: {
        readonly workflowId: string;
        readonly stepName: string;
        readonly attempt: number;
        readonly maxRetries: number;
        readonly remainingRetries: number;
        readonly willRetry: boolean;
        readonly retryDelay?: number;
        readonly retryAt?: number;
        readonly error: WorkflowError;
      };
      readonly rollback?: undefined;
      readonly workflow?: undefined;
    }
  | {
      readonly rollback: { readonly workflowId: string; readonly stepName: string; readonly error: WorkflowError };
      readonly step?: undefined;
      readonly workflow?: undefined;
    }
  /**
   * The end of a failed workflow. `reported`: an earlier `step` event already reported this failure; skip it in alerts.
   */
  | {
      readonly workflow: { readonly workflowId: string; readonly error: WorkflowError; readonly reported?: true };
      readonly step?: undefined;
      readonly rollback?: undefined;
    };
