/** The typed façade of a workflow's contexts. The engine behind it is untyped. */
import type { ClientFor } from "./client-types.js";
import type { EventArgs, EventNames } from "./connection-types.js";
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
 * What a step's callback gets. Valid only while its attempt runs: afterwards each of these, and every object got from
 * `state`, throws workflow/step_ended.
 */
// oxlint-disable-next-line no-unused-vars -- all contexts take the same parameters in the same order
export interface WorkflowStepContext<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  readonly actorId: string;
  readonly name: string;
  readonly key: string[];
  readonly log: Logger;
  /** Aborted when the attempt times out, its branch lost a race, or the run is cancelled or destroyed. */
  readonly abortSignal: AbortSignal;
  /** Of this attempt, 1-based. */
  readonly attempt: number;
  readonly maxRetries: number;
  /**
   * The actor's live state. Changes made after the callback's last `await` are stored exactly once, together with the
   * step's result; earlier ones may be stored before it and are seen by a later attempt (roll-forward).
   */
  state: S;
  vars: V;
  /**
   * The actor's SQL database. Statements that the callback executes after its last `await` of anything but such statements
   * are committed together with the step's result; earlier ones, and transactions, on their own: a later attempt sees them.
   */
  readonly db: DB;
  /** Sends an event at once, after what is dirty has been committed, whatever becomes of the attempt (progress is live). */
  broadcast<N extends EventNames<E>>(name: N, ...args: EventArgs<E, N>): void;
  /** Calls to other actors: at least once. */
  client<R = any>(): ClientFor<R>;
  readonly schedule: ActorSchedule;
  readonly cron: ActorCron;
  readonly queue: StepQueueOf<Q>;
  /** Ends the actor once this attempt has ended. */
  destroy(): void;
  keepAwake<T>(promise: Promise<T>): Promise<T>;
  waitUntil(promise: Promise<unknown>): void;
}

/** Options of a step. Durations in ms. */
export interface WorkflowStepConfig<C, T> {
  readonly name: string;
  readonly run: (step: C) => T | Promise<T>;
  /** Undoes the step if the workflow fails; needs a `rollbackCheckpoint` before it. */
  readonly rollback?: (step: C, output: T) => void | Promise<void>;
  /** No commit of its own: the entry is written by whatever commit comes next. */
  readonly ephemeral?: boolean;
  /** Runs after the first one; default 3; Infinity: until one succeeds. */
  readonly maxRetries?: number;
  /** Delay after the n-th failure: `min(retryBackoffMax, retryBackoffBase · 2^n)`; defaults 100 and 30,000. */
  readonly retryBackoffBase?: number;
  readonly retryBackoffMax?: number;
  /** Of one attempt; default 30,000; zero or Infinity: none. A timeout ends the step unless `retryOnTimeout`. */
  readonly timeout?: number;
  readonly retryOnTimeout?: boolean;
}

export interface WorkflowTryStepConfig<C, T> extends WorkflowStepConfig<C, T> {
  /** Failures that become results; default critical, timeout, exhausted. */
  readonly catch?: readonly TryStepCatchKind[];
}
export type TryStepResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: TryStepFailure };

export interface WorkflowTryConfig<C, T> {
  readonly name: string;
  readonly run: (ctx: C) => T | Promise<T>;
  /** Failures that become results; default step, join, race. */
  readonly catch?: readonly TryBlockCatchKind[];
}
export type TryBlockResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: TryBlockFailure };

export interface WorkflowLoopConfig<C, S, T> {
  readonly name: string;
  readonly state?: S;
  /** Returns nothing (stateless), `Loop.continue(state)` or `Loop.break(value)`. */
  readonly run: (ctx: C, state: S) => LoopResult<S, T> | Promise<LoopResult<S, T>>;
  /** Iterations between two deletions of old ones; default 20. */
  readonly historyPruneInterval?: number;
  /** Finished iterations that are kept; default the interval. */
  readonly historySize?: number;
  /** @deprecated use historyPruneInterval */
  readonly commitInterval?: number;
  /** @deprecated use historyPruneInterval */
  readonly historyEvery?: number;
  /** @deprecated use historySize */
  readonly historyKeep?: number;
}

/** What a loop's callback returns: `Loop.continue(state)`, `Loop.break(value)`, or nothing, if the loop has no state. */
export type LoopResult<S, T> = LoopContinue<S> | LoopBreak<T> | undefined | void;
export type LoopValue<R> = R extends LoopBreak<infer T> ? T : never;

export interface WorkflowBranchConfig<C, T> {
  readonly run: (ctx: C) => T | Promise<T>;
}
export interface WorkflowRaceBranch<C, T, N extends string = string> extends WorkflowBranchConfig<C, T> {
  readonly name: N;
}

export type RaceResult<B> =
  B extends WorkflowRaceBranch<never, unknown> ? { winner: B["name"]; value: Awaited<ReturnType<B["run"]>> } : never;

export interface WorkflowContext<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  readonly workflowId: string;
  readonly actorId: string;
  readonly name: string;
  readonly key: string[];
  readonly log: Logger;
  readonly abortSignal: AbortSignal;
  isEvicted(): boolean;
  /**
   * Runs the callback until it succeeds once; its result is stored and answers every later replay. State changes made
   * after the callback's last `await` happen exactly once, unless something that it has begun and not awaited takes time
   * (a message whose validator is asynchronous, a transaction): the step waits for that, and changes made before its end
   * are roll-forward, as those before an `await` are. @throws StepExhaustedError, CriticalError, RollbackError
   */
  step<T>(name: string, run: (step: WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>) => T | Promise<T>): Promise<T>;
  step<T>(config: WorkflowStepConfig<WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>, T>): Promise<T>;
  /** A step whose terminal failure is a result; retries come first. */
  tryStep<T>(
    name: string,
    run: (step: WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>) => T | Promise<T>,
  ): Promise<TryStepResult<T>>;
  tryStep<T>(
    config: WorkflowTryStepConfig<WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>, T>,
  ): Promise<TryStepResult<T>>;
  /** A scope of its own whose terminal step, join and race failures are results. */
  try<T>(
    name: string,
    run: (ctx: WorkflowContext<S, CP, CS, V, I, DB, E, Q>) => T | Promise<T>,
  ): Promise<TryBlockResult<T>>;
  try<T>(config: WorkflowTryConfig<WorkflowContext<S, CP, CS, V, I, DB, E, Q>, T>): Promise<TryBlockResult<T>>;
  /**
   * Iterations until one returns `Loop.break(value)`, whose value is the result; the position is durable, finished
   * iterations never run again.
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
  /** Breaks with values of several types: their union. */
  loop<R extends LoopResult<undefined, unknown>>(
    name: string,
    run: (ctx: WorkflowContext<S, CP, CS, V, I, DB, E, Q>) => R | Promise<R>,
  ): Promise<LoopValue<R>>;
  /** Runs branches in parallel and waits for all. @throws JoinError with each failure by branch */
  join<B extends Record<string, WorkflowBranchConfig<WorkflowContext<S, CP, CS, V, I, DB, E, Q>, unknown>>>(
    name: string,
    branches: B,
  ): Promise<{ [K in keyof B]: Awaited<ReturnType<B[K]["run"]>> }>;
  /** The first branch that fulfils wins, timers included; the others end. @throws RaceError when all reject */
  race<T, N extends string = string>(
    name: string,
    branches: readonly WorkflowRaceBranch<WorkflowContext<S, CP, CS, V, I, DB, E, Q>, T, N>[],
  ): Promise<{ winner: N; value: T }>;
  /** Branches with results of several types: the winner's name tells which. */
  race<const B extends readonly WorkflowRaceBranch<WorkflowContext<S, CP, CS, V, I, DB, E, Q>, unknown>[]>(
    name: string,
    branches: B,
  ): Promise<RaceResult<B[number]>>;
  readonly queue: WorkflowQueueOf<Q>;
  /** From here on, steps may have a `rollback`. */
  rollbackCheckpoint(name: string): Promise<void>;
  /** Stands where an operation stood that the code no longer has. */
  removed(name: string, originalKind: EntryKind | "try"): Promise<void>;
  /** Which version of the code this run follows: 1 if it was past this point before the gate existed, else `latest`. */
  getVersion(name: string, latest: number): Promise<number>;
  /** Waits durably; the deadline is stored, nothing runs and nothing is billed meanwhile. @throws workflow/invalid_time */
  sleep(name: string, durationMs: number): Promise<void>;
  /** Waits durably until a time in epoch ms. A past time completes at once. @throws workflow/invalid_time */
  sleepUntil(name: string, time: number | Date): Promise<void>;
}

/** The step context of an actor: for helpers, `async function save(step: WorkflowStepContextOf<typeof myActor>)`. */
export type WorkflowStepContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer I, infer DB, infer E, infer Q, infer _M>
    ? WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>
    : never;
/** The workflow context of an actor; loops and branches have the same. */
export type WorkflowContextOf<D> =
  D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer I, infer DB, infer E, infer Q, infer _M>
    ? WorkflowContext<S, CP, CS, V, I, DB, E, Q>
    : never;
export type WorkflowLoopContextOf<D> = WorkflowContextOf<D>;
export type WorkflowBranchContextOf<D> = WorkflowContextOf<D>;

export interface WorkflowOptions<C> {
  /** Told of each failed attempt, rollback handler and workflow; awaited, its own errors are logged. */
  readonly onError?: (c: C, event: WorkflowErrorEvent) => unknown;
}

/** A failure as `onError` is told of it. Durations in ms, times in epoch ms. */
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
  /** The end of a failed workflow. `reported`: a step's event has told this failure, so whoever is alerted of each may pass over it. */
  | {
      readonly workflow: { readonly workflowId: string; readonly error: WorkflowError; readonly reported?: true };
      readonly step?: undefined;
      readonly rollback?: undefined;
    };
