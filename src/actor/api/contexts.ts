/**
 * The typed façade of actors. Generics stop here: the runtime below handles `unknown` and codecs.
 *
 * Type parameters, in this order everywhere: S state · CP connection params · CS connection state · V vars · I input ·
 * DB database: the client, or a provider of it · E events · Q queues · A actions, or M: the same as clients call them. No
 * context uses I; it keeps its place. Contexts that lack some of them leave those out, as RivetKit's do.
 */
import type { InspectorConfig, ActorOptions } from "./actor-options.js";
import type { ActorKv } from "./kv-types.js";
import type { Logger } from "../ports.js";
import type { ActorQueueOf } from "./queue-types.js";
import type { ActorCron, ScheduledEvent } from "./schedule-types.js";
import type { UniversalWebSocket } from "./raw-socket-types.js";
import type { WorkflowHistoryEntry, WorkflowStatus } from "./workflow-status.js";
import type { ClientFor } from "./client-types.js";
import type { DatabaseClient, DatabaseProvider } from "./database-types.js";
import type {
  ActionInputSchemas,
  DefinitionTypes,
  EventDeclarations,
  QueueDeclarations,
  StandardSchema,
} from "./declarations.js";
import type { Conn, Conns, Disconnection, EventArgs, EventNames } from "./connection-types.js";

/** Before anything of the actor exists: `canCreate`. */
export interface CanCreateContext {
  /** The id that the actor will have. */
  readonly actorId: string;
  /** The name under which the actor stands in `setup({ use })`. */
  readonly name: string;
  readonly key: string[];
  readonly region: string;
  readonly log: Logger;
  /** The HTTP request that asks; absent for callers inside the Worker. */
  readonly request?: Request;
  /** Whether code of the same Worker asks, over the binding: `handler.client(env)`, or another actor. */
  readonly internal: boolean;
  /** Aborted when the creation is given up. */
  readonly abortSignal: AbortSignal;
  readonly aborted: boolean;
  /** A client for the same registry: to ask another actor whether this one may be created. */
  client<R = any>(): ClientFor<R>;
}

/** Before the state exists: `createState`. */
export interface CreateStateContext<DB, Q extends QueueDeclarations = any> {
  /** Unique; another one after destroy and re-creation. */
  readonly actorId: string;
  /** The name under which the actor stands in `setup({ use })`. */
  readonly name: string;
  readonly key: string[];
  readonly region: string;
  readonly log: Logger;
  /** The actor's SQL database: what `db` of its configuration makes. @throws actor/database_not_configured without one */
  readonly db: DatabaseClient<DB>;
  /** Small values by key, in the actor's own storage; committed together with its state. */
  readonly kv: ActorKv;
  /**
   * Aborted when the actor begins to be destroyed or to go to sleep (state and vars are still there), or when its activation
   * is lost; in an action also when that action times out.
   */
  readonly abortSignal: AbortSignal;
  readonly aborted: boolean;
  readonly queue: ActorQueueOf<Q>;
  /** Actions of this actor at a later time; stored, and run at least once. */
  readonly schedule: ActorSchedule;
  /** Actions of this actor again and again, by cron expressions and at intervals. */
  readonly cron: ActorCron;
  /** The workflow seen and steered. */
  readonly workflow: ActorWorkflow;
  /**
   * Ends the actor once this callback has. In one commit it is marked, so that it cannot come back; `abortSignal` fires,
   * `onDestroy` runs, all its data is deleted, and the key is free. Calls that still run by then are answered `actor/destroyed`.
   * @throws actor/stopping the second time, actor/starting before the start is over
   */
  destroy(): void;
  /**
   * Puts the actor to sleep as soon as nobody is served and nothing but the run handler works: that one is told by
   * `abortSignal`. Then `onSleep` runs; vars go, the next event starts the actor anew. A second time changes nothing.
   * @throws actor/starting before the start is over
   */
  sleep(): void;
  /** @deprecated Without effect: `keepAwake` does what it did. */
  setPreventSleep(prevent: boolean): void;
  /** @deprecated Always false. */
  readonly preventSleep: boolean;
  /**
   * Keeps the object awake until the promise settles, and gives the same promise back. A rejection is logged too. The actor
   * does not go to sleep meanwhile; one that is destroyed waits for it, at most `sleepGracePeriod`.
   */
  keepAwake<T>(promise: Promise<T>): Promise<T>;
  /**
   * A promise that nobody else awaits; its rejection is logged. It does not keep the actor from going to sleep; an actor
   * that goes to sleep or is destroyed waits for it, at most `sleepGracePeriod`.
   */
  waitUntil(promise: Promise<unknown>): void;
  /** A client for the same registry, typed by `client<typeof registry>()`. Calls leave only after what is dirty has been committed. */
  client<R = any>(): ClientFor<R>;
  /** Not made yet. Its type lets helpers that take a `CreateContextOf` be called here. @throws actor/state_not_ready */
  readonly state: never;
  /**
   * Commits what is dirty. `immediate` resolves when the write is confirmed on disk and rejects if it failed; otherwise
   * it resolves once the commit is made (`maxWait`, ms, is checked and of no consequence: a commit never waits here).
   * @throws actor/invalid_option, value/not_serializable or value/too_large for a state that cannot be stored
   */
  saveState(options?: { readonly immediate?: boolean } | { readonly maxWait?: number }): Promise<void>;
}

/** Before the vars exist: `onCreate`, `createVars`, `onMigrate`. */
/* oxlint-disable no-unused-vars -- in RivetKit's order */
export interface CreateContext<
  S,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> extends Omit<CreateStateContext<DB, Q>, "state"> {
  /**
   * The actor's state: a live object, committed when the callback ends and before anything leaves the actor.
   * @throws actor/state_not_enabled without `state` or `createState`; value/not_serializable on assigning what cannot be stored
   */
  state: S;
}
/* oxlint-enable no-unused-vars */

/** Before the caller is a connection: `onBeforeConnect`, `createConnState`. */
export interface BeforeConnectContext<
  S,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> extends CreateContext<S, I, DB, E, Q> {
  /** Who is connected; live. The caller is not among them yet. */
  readonly conns: Conns<unknown, unknown, E>;
  /** Not stored; made anew at every start by `vars` or `createVars`. */
  vars: V;
  /** The HTTP request that asks for the connection; absent for callers inside the Worker. */
  readonly request?: Request;
  /** Whether code of the same Worker asks, over the binding: `handler.client(env)`, or another actor. */
  readonly internal: boolean;
  /**
   * Sends an event to all connections that are subscribed to it, once what is dirty has been committed. Encodes once for
   * each encoding; a dead socket is passed over. @throws actor/validation_error, message/outgoing_too_long,
   * value/not_serializable; nobody is sent anything then
   */
  broadcast<N extends EventNames<E>>(name: N, ...args: EventArgs<E, N>): void;
}

/** What every other callback of an actor gets. */
export interface ActorContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> extends Omit<BeforeConnectContext<S, V, I, DB, E, Q>, "request" | "internal" | "conns"> {
  /** Who is connected; live. */
  readonly conns: Conns<CP, CS, E>;
}

/** In callbacks that run for a connection: who it is, and the request behind it if it came over HTTP. */
export interface ConnContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> extends ActorContext<S, CP, CS, V, I, DB, E, Q> {
  /** The caller. Absent where nobody calls: in actions that the schedule runs. */
  readonly conn: Conn<S, CP, CS, V, unknown, DB, E, Q>;
  readonly request?: Request;
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
  /**
   * Lets a failed workflow try again: the operation whose error ended it starts over, as does every step that was undone; other
   * completed ones keep their results. One that is `diverged` is looked at again at once. In any other state nothing happens.
   * Stored when it returns, and the workflow goes on after that; in a hook of a start, both once that start has succeeded.
   * @example recover: (c) => c.workflow.recover()
   */
  recover(): void;
  /**
   * Runs a workflow again from a step on (the `id` of its entry in `history()`); from its very start if the id is
   * undefined. What is recorded from there on goes, and messages that were received there are queued again; steps
   * before it that were undone start over; the actor's state is not rewound. Stored when it returns; in a hook of a
   * start, with that start. Without a workflow nothing happens.
   * @example replay: (c, id: string) => c.workflow.replayFrom(id)
   * @throws actor/workflow_in_flight unless it is parked or has ended; workflow/step_not_found, workflow/not_a_step
   */
  replayFrom(entryId?: string): void;
}

/** In actions. */
export interface ActionContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> extends ConnContext<S, CP, CS, V, I, DB, E, Q> {}

export interface RunContext<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> extends ActorContext<S, CP, CS, V, I, DB, E, Q> {}

/** One action: any function whose first parameter is the context. */
export interface ActionHandler<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
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

export interface RunConfig<
  S = unknown,
  CP = unknown,
  CS = unknown,
  V = unknown,
  I = unknown,
  DB = unknown,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> {
  readonly name?: string;
  readonly icon?: string;
  readonly run: RunHandler<S, CP, CS, V, I, DB, E, Q>;
  /** Accepted, without effect. */
  readonly inspector?: unknown;
}

/**
 * `actor({...})`'s argument. Only one of each exclusive pair may be given.
 *
 * Types are inferred from left to right, and a callback's context fixes those that it mentions. So each context names
 * only what exists when it is made, `I` (known from `createState` or `onCreate`) stays out of all of them, and `A` has
 * no constraint: with one, the actions' contexts would be made before `createState` is looked at.
 */
export interface ActorConfig<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations, A> {
  /** Declared types of this actor; ignored at run time. */
  readonly types?: unknown;
  /** First state of a new actor; each gets its own copy. */
  readonly state?: S;
  /**
   * Makes the first state of a new actor. Runs once, before `onCreate`; a throw leaves no actor. An actor that
   * had no state before this release gets one at its next start, without an input; a throw fails that start.
   *
   * Where `run: workflow(…)` stands in the same literal, annotate the result, `(c, input: Order): OrderState => …`, or `c`:
   * otherwise the compiler reaches the workflow before it knows the state, and `step.state` is `unknown` there. Actions,
   * hooks and clients know it in any case. The same holds for `createVars`.
   */
  readonly createState?: (c: CreateStateContext<DB, Q>, input: I) => S | Promise<S>;
  /**
   * Checks the input of a new actor (Standard Schema; it may be asynchronous); what it gives is the input that `canCreate`,
   * `createState` and `onCreate` get. A refusal is actor/validation_error, and leaves no actor. Where it stands, clients must
   * give an input.
   *
   * @example
   *     inputSchema: z.object({ plan: z.enum(["free", "pro"]) }),
   */
  readonly inputSchema?: StandardSchema<any, I>;
  /**
   * Whether a caller may create the actor: asked before anything of it exists, for every call that would make it, `create()` and
   * REST included; not for an actor that is there. True and nothing let it be; anything else is auth/forbidden, and what it
   * throws, the caller gets: nothing is stored then. `params` are the connection params, checked by `connParamsSchema`; undefined
   * where a mere creation brings none. Within `onBeforeConnectTimeout`.
   *
   * After it all hooks of the start run, then `onBeforeConnect` and `createConnState` of whoever calls; what they change is one commit
   * after the last of them, and a throw in any leaves nothing. What they did outside of the actor is not undone.
   *
   * @example
   *     canCreate: async (c, input, params) => c.internal || c.key[0] === (await verify(params?.token)).user,
   */
  readonly canCreate?: (
    c: CanCreateContext,
    input: I,
    params: CP | undefined,
  ) => boolean | void | Promise<boolean | void>;
  readonly vars?: V;
  /** Makes the vars at every start; may read the state. */
  readonly createVars?: (c: CreateContext<S, unknown, DB, any, Q>, driver?: undefined) => V | Promise<V>;
  readonly events?: E;
  readonly queues?: Q;
  /** Checks the params of every caller (Standard Schema); its output is `conn.params`. A refusal is actor/validation_error. */
  readonly connParamsSchema?: StandardSchema<any, CP>;
  /** SQL for the actor: `db()` of perdure/db or perdure/db/drizzle. */
  readonly db?: DatabaseProvider<DB>;
  /**
   * At every start, after the database's own migration; `isNew`: the actor is being created. What both change and the end of
   * the creation, or of the migration, are one commit: a throw, or more than `onMigrateTimeout` for both, undoes it all.
   */
  readonly onMigrate?: (c: CreateContext<S, unknown, DB, any, Q>, isNew: boolean) => unknown;
  /** Once in the actor's life, after its first state exists. What it changes and the creation are one commit. */
  readonly onCreate?: (c: CreateContext<S, unknown, DB, any, Q>, input: I) => unknown;
  /** At every start, also the first, where it runs before the creation is stored. */
  readonly onWake?: (c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>) => unknown;
  /**
   * Admission of every caller, socket or single call. What it throws, the caller gets; until it has let the caller in,
   * that one sees nothing and is seen by nobody. Where the call is to make the actor, a throw leaves no actor. Without `canCreate`
   * it is asked for a mere creation from outside, too (`create()`, REST), with params or undefined; what it throws there that has no
   * code is auth/forbidden. Within `onBeforeConnectTimeout`.
   */
  readonly onBeforeConnect?: (c: BeforeConnectContext<S, V, unknown, DB, E, Q>, params: CP) => unknown;
  /** First state of each connection; each gets its own copy. */
  readonly connState?: CS;
  /** Makes the first state of a connection. A throw refuses the caller. Within `createConnStateTimeout`. */
  readonly createConnState?: (c: BeforeConnectContext<S, V, unknown, DB, E, Q>, params: CP) => CS | Promise<CS>;
  /**
   * After the connection has joined `c.conns`. What it throws ends the connection, and the caller gets it; `onDisconnect`
   * is not called then. Within `onConnectTimeout`. Not called again after hibernation. What `onDisconnect` undoes belongs
   * before its first await: a crash that cuts it off there may leave what it changed, and `onDisconnect` is called.
   */
  readonly onConnect?: (
    c: ConnContext<S, CP, CS, V, unknown, DB, E, Q>,
    conn: Conn<S, CP, CS, V, unknown, DB, E, Q>,
  ) => unknown;
  /**
   * After the connection has left `c.conns`, for every connection that `onConnect` let pass: at least once, also for those
   * that were lost with the process (then at the next start, with code 1006). What it throws is logged. Where it ends the
   * object itself, later starts call it again, five times at most; then it is given up for that connection.
   */
  readonly onDisconnect?: (
    c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>,
    conn: Conn<S, CP, CS, V, unknown, DB, E, Q>,
    end: Disconnection,
  ) => unknown;
  /**
   * Told once changes of the state are committed: of what a callback changed before its caller is answered, of what steps,
   * schedules and other code did by the end of the turn; once for many. Not of the first state, of vars or of connection
   * state, nor before the vars exist. It only reads: a change is actor/state_mutation_reentrant. It is not awaited; what it
   * throws, or its promise rejects with, is logged.
   */
  readonly onStateChange?: (c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>, state: S) => unknown;
  /**
   * Makes the result of every call of an action: what it gives is what the caller gets. Runs after the action and its
   * `onStateChange`, within `actionTimeout`; what it throws, the caller gets. Not for actions that the schedule runs.
   */
  readonly onBeforeActionResponse?: (
    c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>,
    name: string,
    args: unknown[],
    output: unknown,
  ) => unknown;
  /**
   * Serves a raw WebSocket (`handle.webSocket(path)`), which is open already. With the option `canHibernateWebSocket` the
   * socket outlives the actor's time in memory, and this is called again for it, with the same `c.conn` and URL, before its
   * next frame; without, the socket keeps the actor in memory. A throw ends the socket: 1011, "group.code".
   */
  readonly onWebSocket?: (c: ConnContext<S, CP, CS, V, unknown, DB, E, Q>, websocket: UniversalWebSocket) => unknown;
  /**
   * When the actor has been idle for `sleepTimeout`, or was asked to sleep; `abortSignal` has fired, vars and state are there.
   * At most `sleepGracePeriod`; what it throws is logged, what it changes is stored. The next event finds an activation that
   * starts anew. The platform may evict an actor without it: the alarm then starts the actor (up to `onWake`) only for this.
   * At least once for a time of idleness; an actor without it has no deadline and pays nothing.
   */
  readonly onSleep?: (c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>) => unknown;
  /**
   * Answers raw requests: `handle.fetch(path)`, and all that is sent to `…/request/<path>`. The request is as it was sent, but
   * that its path is what follows `/request`, and that headers of ours are gone. Both bodies are streams; a body that
   * announces more than 20 MiB is refused before this is called. OPTIONS is answered by the Worker.
   *
   * What is changed is committed before the Response is given, and before each part of its body that is made later leaves.
   * `actionTimeout` bounds the handler, not the body. `abortSignal` fires when the caller has gone: while the body is
   * written when the next part of it cannot be sent, before that if the Worker has the compatibility flag
   * `enable_request_signal`. What it throws is answered as an action's error; anything but a Response is
   * actor/invalid_response, 500. Without the hook, requests are answered actor/no_request_handler, 404.
   */
  readonly onRequest?: (
    c: ConnContext<S, CP, CS, V, unknown, DB, E, Q>,
    request: Request,
  ) => Response | Promise<Response>;
  /** Before everything is deleted; `abortSignal` has fired. At most `sleepGracePeriod`; what it throws is logged. */
  readonly onDestroy?: (c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>) => unknown;
  readonly run?: RunHandler<S, CP, CS, V, unknown, DB, E, Q> | RunConfig<S, CP, CS, V, unknown, DB, E, Q>;
  readonly actions?: A & Actions<S, CP, CS, V, unknown, DB, E, Q>;
  /**
   * Standard Schemas of the actions' argument lists, in their shape or by dotted names; they may be asynchronous. The handler
   * gets what the schema gives; what it refuses is actor/validation_error, and the handler does not run. Also for actions that
   * the schedule runs; the ScheduledFireInfo comes after what was checked.
   */
  readonly actionInputSchemas?: ActionInputSchemas;
  /** Tabs of an inspector: checked, and without effect (there is none here). */
  readonly inspector?: InspectorConfig;
  readonly options?: ActorOptions;
}

/** What `actor()` gives: the configuration with its types. Starts nothing. `M`: the actions, as a client calls them. */
export interface ActorDefinition<
  S,
  CP,
  CS,
  V,
  I,
  DB,
  E extends EventDeclarations,
  Q extends QueueDeclarations,
  M,
> extends DefinitionTypes<S, CP, CS, V, I, DB, E, Q, M> {
  readonly config: ActorConfig<any, any, any, any, any, any, any, any, any>;
}

export type AnyActorDefinition = ActorDefinition<any, any, any, any, any, any, any, any, any>;

/** Actor definitions by their names. */
export type ActorDefinitions = Record<string, AnyActorDefinition>;
