/** The typed façade of a workflow's contexts. The engine behind it is untyped. */
import type { AnyClient, EventDeclarations, QueueDeclarations } from "./declarations.js";
import type { Logger } from "./ports.js";
import type { ActorDefinition, ContextTypes } from "./types.js";

/**
 * What a step's callback gets. Valid only while its attempt runs: afterwards each of these, and every object got from
 * `state`, throws workflow/step_ended.
 */
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
  client<C = AnyClient>(): C;
  readonly "~types"?: ContextTypes<CP, CS, I, DB, E, Q>;
}

/** Options of a step. Durations in ms. */
export interface WorkflowStepConfig<C, T> {
  readonly name: string;
  readonly run: (step: C) => T | Promise<T>;
  /** No commit of its own: the entry is written by whatever commit comes next. */
  readonly ephemeral?: boolean;
  /** Runs after the first one; default 3. */
  readonly maxRetries?: number;
  /** Delay after the n-th failure: `min(retryBackoffMax, retryBackoffBase · 2^n)`; defaults 100 and 30,000. */
  readonly retryBackoffBase?: number;
  readonly retryBackoffMax?: number;
  /** Of one attempt; default 30,000; zero or less: none. A timeout ends the step unless `retryOnTimeout`. */
  readonly timeout?: number;
  readonly retryOnTimeout?: boolean;
}

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
   * after the callback's last `await` happen exactly once. @throws StepExhaustedError, CriticalError, RollbackError
   */
  step<T>(name: string, run: (step: WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>) => T | Promise<T>): Promise<T>;
  step<T>(config: WorkflowStepConfig<WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>, T>): Promise<T>;
  /** Waits durably; the deadline is stored, nothing runs and nothing is billed meanwhile. @throws workflow/invalid_time */
  sleep(name: string, durationMs: number): Promise<void>;
  /** Waits durably until a time in epoch ms. A past time completes at once. @throws workflow/invalid_time */
  sleepUntil(name: string, time: number | Date): Promise<void>;
  readonly "~types"?: ContextTypes<CP, CS, I, DB, E, Q> & { readonly state: S; readonly vars: V };
}

/** The step context of an actor: for helpers, `async function save(step: WorkflowStepContextOf<typeof myActor>)`. */
export type WorkflowStepContextOf<D> = D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer I, infer DB, infer E, infer Q, infer _A>
  ? WorkflowStepContext<S, CP, CS, V, I, DB, E, Q>
  : never;
/** The workflow context of an actor; loops and branches have the same. */
export type WorkflowContextOf<D> = D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer I, infer DB, infer E, infer Q, infer _A>
  ? WorkflowContext<S, CP, CS, V, I, DB, E, Q>
  : never;
export type WorkflowLoopContextOf<D> = WorkflowContextOf<D>;
export type WorkflowBranchContextOf<D> = WorkflowContextOf<D>;
