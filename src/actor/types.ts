/**
 * The typed façade of actors. Generics stop here: the runtime below handles `unknown` and codecs.
 *
 * Type parameters, in this order everywhere: S state · CP connection params · CS connection state · V vars · I input ·
 * DB database · E events · Q queues · A actions.
 */
import type { Logger } from "./ports.js";
import type { ActorQueueOf } from "./queue-messages.js";
import type { ScheduledEvent } from "./schedule-types.js";
import type { WorkflowHistoryEntry, WorkflowStatus } from "./workflow-status.js";
import type { AnyClient, EventDeclarations, QueueDeclarations } from "./declarations.js";

/** What every callback of an actor gets. */
export interface ActorContext<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  /**
   * The actor's state: a live object, committed when the callback ends and before anything leaves the actor.
   * @throws actor/state_not_enabled without `state` or `createState`; value/not_serializable on assigning what cannot be stored
   */
  state: S;
  /** Not stored; made anew at every start by `vars` or `createVars`. */
  vars: V;
  /** Unique; another one after destroy and re-creation. */
  readonly actorId: string;
  /** The name under which the actor stands in `setup({ use })`. */
  readonly name: string;
  readonly key: string[];
  readonly region: string;
  readonly log: Logger;
  /** Aborted when the actor is destroyed or its activation is lost; in an action also when that action times out. */
  readonly abortSignal: AbortSignal;
  readonly aborted: boolean;
  readonly queue: ActorQueueOf<Q>;
  /** Actions of this actor at a later time; stored, and run at least once (decision 21). */
  readonly schedule: ActorSchedule;
  /** The workflow seen and steered (decision 16). */
  readonly workflow: ActorWorkflow;
  /** Ends the actor once this callback has: `onDestroy`, then all its data is deleted. @throws actor/stopping the second time */
  destroy(): void;
  /** Keeps the object awake until the promise settles, and gives it back. */
  keepAwake<T>(promise: Promise<T>): Promise<T>;
  /** A promise that nobody else awaits; its rejection is logged. */
  waitUntil(promise: Promise<unknown>): void;
  /** A client for the same registry. Calls leave only after what is dirty has been committed (C1). */
  client<C = AnyClient>(): C;
  /**
   * Commits what is dirty. `immediate` resolves when the write is confirmed on disk and rejects if it failed; otherwise
   * it resolves once the commit is made (`maxWait` is accepted: a commit never waits here).
   */
  saveState(options?: { readonly immediate?: boolean } | { readonly maxWait?: number }): Promise<void>;
  /** Phantom: carries the type parameters. Never present at run time. */
  readonly "~types"?: ContextTypes<CP, CS, I, DB, E, Q>;
}

/** Carries the parameters of a context that none of its members shows yet. */
export interface ContextTypes<CP, CS, I, DB, E, Q> {
  readonly connParams: CP;
  readonly connState: CS;
  readonly input: I;
  readonly db: DB;
  readonly events: E;
  readonly queues: Q;
}

export interface ActorSchedule {
  /** Runs an action `delayMs` from now; gives the schedule's id. @throws as `at` */
  after(delayMs: number, action: string, ...args: unknown[]): Promise<string>;
  /** Runs an action at a time in epoch ms. @throws schedule/invalid_time, actor/action_not_found, schedule/max_schedules_exceeded */
  at(time: number, action: string, ...args: unknown[]): Promise<string>;
  get(id: string): Promise<ScheduledEvent | undefined>;
  list(): Promise<ScheduledEvent[]>;
  /** False if there is no such schedule, or it runs already. */
  cancel(id: string): Promise<boolean>;
}

export interface ActorWorkflow {
  status(): WorkflowStatus;
  /** All entries, in the order in which their operations were met. */
  history(): WorkflowHistoryEntry[];
  /** Ends the workflow as `cancelled`, undoing nothing. */
  cancel(): void;
  /** Lets a failed workflow try again: failed operations start over, completed ones stay. */
  recover(): void;
  /** Runs again from a step on, or from the start; state is not rewound. @throws actor/workflow_in_flight unless parked or ended */
  replayFrom(entryId?: string): void;
}

/** In actions: also the request, for a call that came over HTTP. */
export interface ActionContext<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations>
  extends ActorContext<S, CP, CS, V, I, DB, E, Q> {
  readonly request?: Request;
}

export interface RunContext<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations>
  extends ActorContext<S, CP, CS, V, I, DB, E, Q> {}

/** Before the state exists. */
export type CreateStateContext<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> = Omit<
  ActorContext<S, CP, CS, V, I, DB, E, Q>,
  "state" | "vars" | "saveState"
>;

/** Before the vars exist. */
export type CreateContext<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> = Omit<
  ActorContext<S, CP, CS, V, I, DB, E, Q>,
  "vars"
>;

/** One action: any function whose first parameter is the context. */
export interface ActionHandler<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  // biome-ignore lint: arguments and result are whatever the user's function has
  (c: ActionContext<S, CP, CS, V, I, DB, E, Q>, ...args: any[]): any;
}

/** Actions by name, nested as deep as one likes. */
export interface Actions<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  [name: string]: ActionHandler<S, CP, CS, V, I, DB, E, Q> | Actions<S, CP, CS, V, I, DB, E, Q>;
}

/** What `workflow(fn)` gives, or a plain handler. */
export interface RunHandler<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  (c: RunContext<S, CP, CS, V, I, DB, E, Q>): Promise<unknown>;
}

export interface RunConfig<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  readonly name?: string;
  readonly icon?: string;
  readonly run: RunHandler<S, CP, CS, V, I, DB, E, Q>;
  readonly inspector?: unknown;
}

/** All durations in ms, all positive. */
export interface ActorOptions {
  readonly name?: string;
  readonly icon?: string;
  readonly actionTimeout?: number;
  readonly createVarsTimeout?: number;
  readonly createConnStateTimeout?: number;
  readonly onBeforeConnectTimeout?: number;
  readonly onConnectTimeout?: number;
  readonly onMigrateTimeout?: number;
  readonly sleepGracePeriod?: number;
  /** Accepted, without effect: state is committed before anything that depends on it is visible. */
  readonly stateSaveInterval?: number;
  readonly connectionLivenessTimeout?: number;
  readonly connectionLivenessInterval?: number;
  readonly sleepTimeout?: number;
  readonly noSleep?: boolean;
  readonly maxQueueSize?: number;
  readonly maxQueueMessageSize?: number;
  readonly maxSchedules?: number;
  readonly canHibernateWebSocket?: boolean | ((request: Request) => boolean);
  readonly enableActorRuntimeSocket?: boolean;
  readonly onDestroyTimeout?: number;
  readonly waitUntilTimeout?: number;
  readonly preloadMaxWorkflowBytes?: number;
  readonly preloadMaxConnectionsBytes?: number;
}

/** `actor({...})`'s argument. Only one of each exclusive pair may be given. */
export interface ActorConfig<
  S, CP, CS, V, I, DB,
  E extends EventDeclarations,
  Q extends QueueDeclarations,
  A extends Actions<S, CP, CS, V, I, DB, E, Q>,
> {
  /** Declared types of this actor; ignored at run time. */
  readonly types?: unknown;
  /** First state of a new actor; each gets its own copy. */
  readonly state?: S;
  /** Makes the first state of a new actor. Runs once, before `onCreate`; a throw leaves no actor (decision 26). */
  readonly createState?: (c: CreateStateContext<S, CP, CS, V, I, DB, E, Q>, input: I) => S | Promise<S>;
  readonly vars?: V;
  /** Makes the vars at every start; may read the state. */
  readonly createVars?: (c: CreateContext<S, CP, CS, V, I, DB, E, Q>, driver?: undefined) => V | Promise<V>;
  readonly events?: E;
  readonly queues?: Q;
  readonly onMigrate?: (c: CreateContext<S, CP, CS, V, I, DB, E, Q>, isNew: boolean) => unknown;
  /** Once in the actor's life, after its first state exists. What it changes and the creation are one commit. */
  readonly onCreate?: (c: CreateContext<S, CP, CS, V, I, DB, E, Q>, input: I) => unknown;
  /** At every start, also the first. */
  readonly onWake?: (c: ActorContext<S, CP, CS, V, I, DB, E, Q>) => unknown;
  /** Before everything is deleted; what it throws is logged. */
  readonly onDestroy?: (c: ActorContext<S, CP, CS, V, I, DB, E, Q>) => unknown;
  readonly run?: RunHandler<S, CP, CS, V, I, DB, E, Q> | RunConfig<S, CP, CS, V, I, DB, E, Q>;
  readonly actions?: A;
  readonly options?: ActorOptions;
}

declare const definitionTypes: unique symbol;

/** What `actor()` gives: the configuration with its types. Starts nothing. */
export interface ActorDefinition<
  S, CP, CS, V, I, DB,
  E extends EventDeclarations,
  Q extends QueueDeclarations,
  A extends Actions<S, CP, CS, V, I, DB, E, Q>,
> {
  readonly config: ActorConfig<S, CP, CS, V, I, DB, E, Q, A>;
  readonly [definitionTypes]?: [S, CP, CS, V, I, DB, E, Q, A];
}

// biome-ignore lint: the definition of any actor, whatever its types
export type AnyActorDefinition = ActorDefinition<any, any, any, any, any, any, any, any, any>;

/** Actor definitions by their names. */
export type ActorDefinitions = Record<string, AnyActorDefinition>;

export type ActorContextOf<D> = D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer I, infer DB, infer E, infer Q, infer _A>
  ? ActorContext<S, CP, CS, V, I, DB, E, Q>
  : never;
export type ActionContextOf<D> = D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer I, infer DB, infer E, infer Q, infer _A>
  ? ActionContext<S, CP, CS, V, I, DB, E, Q>
  : never;
export type RunContextOf<D> = D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer I, infer DB, infer E, infer Q, infer _A>
  ? RunContext<S, CP, CS, V, I, DB, E, Q>
  : never;
export type CreateContextOf<D> = D extends ActorDefinition<infer S, infer CP, infer CS, infer V, infer I, infer DB, infer E, infer Q, infer _A>
  ? CreateContext<S, CP, CS, V, I, DB, E, Q>
  : never;
