/**
 * The types of `actor()`'s configuration and of the contexts its callbacks get. The runtime below handles `unknown` and
 * codecs; generics stop here.
 *
 * Type parameters, in this order everywhere: S state · CP connection params · CS connection state · V vars · I input ·
 * DB database (the client, or a provider of it) · E events · Q queues · A actions, or M: the actions as clients call
 * them. No context uses I; it keeps its place. A context that lacks some of them leaves those out, as in RivetKit.
 */
import type { InspectorConfig, ActorOptions } from "./actor-options.js";
import type { ActorKv } from "./kv-types.js";
import type { Env } from "./env.js";
import type { Logger } from "../ports.js";
import type { ActorQueueOf } from "./queue-types.js";
import type { ActorCron, ScheduledEvent } from "./schedule-types.js";
import type { UniversalWebSocket } from "./raw-socket-types.js";
import type {
  WorkflowHistoryEntry,
  WorkflowActOptions,
  WorkflowCancelOptions,
  WorkflowDryRun,
  WorkflowPlan,
  WorkflowHistoryOptions,
  WorkflowStatus,
} from "./workflow-status.js";
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

/** The context of `canCreate`, which runs before anything of the actor exists. */
export interface CanCreateContext {
  /** The id the actor would have. */
  readonly actorId: string;
  /** The actor's name in `setup({ use })`. */
  readonly name: string;
  /** The actor's key as its parts: `["tenant-7", "ada"]`. */
  readonly key: string[];
  /** Always `"default"`: the platform does not tell an object where it runs. */
  readonly region: string;
  /**
   * The Worker's bindings, variables and secrets, as its configuration declares them. The type is the global
   * `Cloudflare.Env`, which `wrangler types` generates; without that, declare its members once.
   *
   * @example
   *     canCreate: async (c) => (await c.env.TENANTS.get(c.key[0])) !== null,
   */
  readonly env: Env;
  /** A logger whose lines carry the actor's name and key. */
  readonly log: Logger;
  /** The HTTP request of the caller; absent for callers inside the Worker. */
  readonly request?: Request;
  /** Whether the caller is code of the same Worker: `handler.client(env)`, or another actor. */
  readonly internal: boolean;
  /** Aborted when the creation is given up. */
  readonly abortSignal: AbortSignal;
  /** Whether `abortSignal` has fired. */
  readonly aborted: boolean;
  /**
   * Returns a client of the same registry, to ask another actor whether this one may be created.
   *
   * @example
   *     canCreate: (c, input) => c.client<typeof registry>().tenant.getOrCreate(input.tenant).mayCreate(),
   */
  client<R = any>(): ClientFor<R>;
}

/** The context of `createState`, which runs before the state exists. */
export interface CreateStateContext<DB, Q extends QueueDeclarations = any> {
  /** Unique to this life of the key: an actor created after a `destroy` has another id. */
  readonly actorId: string;
  /** The actor's name in `setup({ use })`. */
  readonly name: string;
  /** The actor's key as its parts: `["tenant-7", "ada"]`. */
  readonly key: string[];
  /** Always `"default"`: the platform does not tell an object where it runs. */
  readonly region: string;
  /**
   * The Worker's bindings, variables and secrets, as its configuration declares them. The type is the global
   * `Cloudflare.Env`, which `wrangler types` generates; without that, declare its members once.
   *
   * @example
   *     const image = await c.env.IMAGES.get(c.state.image);
   */
  readonly env: Env;
  /**
   * A logger whose lines carry the actor's name and key.
   *
   * @example
   *     c.log.info("order placed", { order: id });
   */
  readonly log: Logger;
  /**
   * The actor's SQL database: the client that `db` of its configuration makes.
   *
   * @example
   *     const rows = await c.db.execute("select title from books where shelf = ?", shelf);
   * @throws {actor/database_not_configured} when the configuration has no `db`
   */
  readonly db: DatabaseClient<DB>;
  /**
   * Small values by key, in the actor's own storage. Writes are committed together with its state.
   *
   * @example
   *     await c.kv.put(`session/${user}`, device);
   */
  readonly kv: ActorKv;
  /**
   * Aborted when the actor begins to sleep or to be destroyed (state and vars are still there), or when its activation
   * is lost; in an action also when that action times out.
   *
   * @example
   *     const response = await fetch(url, { signal: c.abortSignal });
   */
  readonly abortSignal: AbortSignal;
  /** Whether `abortSignal` has fired. */
  readonly aborted: boolean;
  /**
   * The actor's queues: send a message, or receive one.
   *
   * @example
   *     await c.queue.send("orders", { item: "tea" });
   */
  readonly queue: ActorQueueOf<Q>;
  /**
   * Runs actions of this actor later. Schedules are stored, and each runs at least once.
   *
   * @example
   *     await c.schedule.after(60_000, "remind", "ada");
   */
  readonly schedule: ActorSchedule;
  /**
   * Runs actions of this actor again and again, by cron expression or at an interval.
   *
   * @example
   *     await c.cron.set({ name: "digest", expression: "0 7 * * 1-5", action: "send" });
   */
  readonly cron: ActorCron;
  /** Shows and controls the workflow of the actor's `run`. */
  readonly workflow: ActorWorkflow;
  /**
   * Destroys the actor after this callback: `abortSignal` fires, `onDestroy` runs, all its data is deleted, and the key
   * is free again. One commit marks the actor first, so that it never comes back. Calls still running at the end are
   * answered `actor/destroyed`.
   *
   * @example
   *     close: (c) => c.destroy(),
   * @throws {actor/stopping} when the actor is already ending
   * @throws {actor/starting} when the start has not ended
   */
  destroy(): void;
  /**
   * Puts the actor to sleep once no call is in progress. A `run` handler still working is told through `abortSignal`.
   * `onSleep` runs, vars are dropped, and the next event starts the actor again. Calling it twice changes nothing.
   *
   * @example
   *     pause: (c) => c.sleep(),
   * @throws {actor/starting} when the start has not ended
   */
  sleep(): void;
  /** @deprecated Has no effect: use `keepAwake`. */
  setPreventSleep(prevent: boolean): void;
  /** @deprecated Always false. */
  readonly preventSleep: boolean;
  /**
   * Keeps the actor awake until the promise settles, and returns the same promise. A rejection is also logged. An actor
   * that is destroyed meanwhile waits for it, for at most `sleepGracePeriod`.
   *
   * @example
   *     const report = await c.keepAwake(renderReport());
   */
  keepAwake<T>(promise: Promise<T>): Promise<T>;
  /**
   * Lets a promise run in the background; its rejection is logged. It does not keep the actor awake, but an actor that
   * goes to sleep or is destroyed waits for it, for at most `sleepGracePeriod`.
   *
   * @example
   *     c.waitUntil(reportMetrics(c.state.count));
   */
  waitUntil(promise: Promise<unknown>): void;
  /**
   * Returns a client of the same registry. All changes so far are committed before a call leaves the actor.
   *
   * @example
   *     await c.client<typeof registry>().inventory.getOrCreate("tea").reserve(2);
   */
  client<R = any>(): ClientFor<R>;
  /**
   * Does not exist yet. It is typed so that a helper which takes a `CreateContextOf` accepts this context.
   *
   * @throws {actor/state_not_ready} always
   */
  readonly state: never;
  /**
   * Commits all changes so far. With `immediate` it resolves once the write is confirmed on disk, and rejects if the
   * write fails; otherwise it resolves once the commit is issued. `maxWait` (ms) is checked and has no effect: a commit
   * never waits here.
   *
   * @example
   *     c.state.step = "charging";
   *     await c.saveState({ immediate: true });
   * @throws {actor/invalid_option} when an option is not valid
   * @throws {value/not_serializable} when the state holds something that cannot be stored
   * @throws {value/too_large} when the state is larger than 2,000,000 bytes
   */
  saveState(options?: { readonly immediate?: boolean } | { readonly maxWait?: number }): Promise<void>;
}

/** The context of `onCreate`, `createVars` and `onMigrate`, which run before the vars exist. */
/* oxlint-disable no-unused-vars -- in RivetKit's order */
export interface CreateContext<
  S,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> extends Omit<CreateStateContext<DB, Q>, "state"> {
  /**
   * The actor's state: a live object. Change it in place or assign it; changes are committed when the callback ends,
   * and before anything leaves the actor. An action that throws keeps its changes.
   *
   * @example
   *     c.state.items.push(item);
   * @throws {actor/state_not_enabled} when the configuration has neither `state` nor `createState`
   * @throws {value/not_serializable} when the assigned value cannot be stored
   * @throws {value/too_large} when the state would be larger than 2,000,000 bytes
   */
  state: S;
}
/* oxlint-enable no-unused-vars */

/** The context of `onBeforeConnect` and `createConnState`, which run before the caller is a connection. */
export interface BeforeConnectContext<
  S,
  V,
  I,
  DB,
  E extends EventDeclarations = any,
  Q extends QueueDeclarations = any,
> extends CreateContext<S, I, DB, E, Q> {
  /** The connections now, by id: a live map. The caller is not in it yet. */
  readonly conns: Conns<unknown, unknown, E>;
  /** Values that live in memory only. Not stored; `vars` or `createVars` makes them at every start. */
  vars: V;
  /** The HTTP request that asks for the connection; absent for callers inside the Worker. */
  readonly request?: Request;
  /** Whether the caller is code of the same Worker: `handler.client(env)`, or another actor. */
  readonly internal: boolean;
  /**
   * Sends an event to every connection subscribed to it, after all changes so far are committed. A dead socket is
   * skipped. If it throws, no connection has received anything.
   *
   * @example
   *     c.broadcast("noted", c.state.notes.length, text);
   * @throws {actor/validation_error} when the event's schema rejects the arguments
   * @throws {message/outgoing_too_long} when the encoded event is larger than `maxOutgoingMessageSize`
   * @throws {value/not_serializable} when an argument cannot be encoded
   */
  broadcast<N extends EventNames<E>>(name: N, ...args: EventArgs<E, N>): void;
}

/** The context of every other callback of an actor. */
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
  /**
   * The connections now, by id: a live map that cannot be written.
   *
   * @example
   *     for (const conn of c.conns.values()) if (conn.state.muted) await conn.disconnect("muted");
   */
  readonly conns: Conns<CP, CS, E>;
}

/** The context of callbacks that run for a connection: it adds the connection, and the HTTP request behind it. */
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
  /**
   * The caller's connection. Absent in an action that a schedule runs, since it has no caller.
   *
   * @example
   *     whoAmI: (c) => c.conn.params.user,
   */
  readonly conn: Conn<S, CP, CS, V, unknown, DB, E, Q>;
  /** The HTTP request behind the call; absent for callers inside the Worker. */
  readonly request?: Request;
}

/**
 * Actions of this actor that run once, later. A schedule is stored with the actor's other changes, survives crashes and
 * deploys, and runs at least once: again if a crash cuts it off.
 */
export interface ActorSchedule {
  /**
   * Runs an action `delayMs` ms from now, and returns the schedule's id.
   *
   * @example
   *     const id = await c.schedule.after(60_000, "remind", "ada");
   * @throws {schedule/invalid_time} when the delay is not a finite number
   * @throws {actor/action_not_found} when the actor has no such action
   * @throws {schedule/max_schedules_exceeded} when the actor already has `maxSchedules` (default 1,000)
   * @throws {value/not_serializable} when an argument cannot be stored
   */
  after(delayMs: number, action: string, ...args: unknown[]): Promise<string>;
  /**
   * Runs an action at a time in epoch ms, and returns the schedule's id. A past time runs at once.
   *
   * @example
   *     await c.schedule.at(Date.UTC(2027, 0, 1), "newYear");
   * @throws {schedule/invalid_time} when the time is not a finite number
   * @throws {actor/action_not_found} when the actor has no such action
   * @throws {schedule/max_schedules_exceeded} when the actor already has `maxSchedules` (default 1,000)
   * @throws {value/not_serializable} when an argument cannot be stored
   */
  at(time: number, action: string, ...args: unknown[]): Promise<string>;
  /**
   * Returns a schedule by id, or undefined if it has run or never existed.
   *
   * @example
   *     const due = (await c.schedule.get(id))?.runAt;
   */
  get(id: string): Promise<ScheduledEvent | undefined>;
  /**
   * Returns all schedules that have not run, the earliest first.
   *
   * @example
   *     const reminders = (await c.schedule.list()).filter(({ action }) => action === "remind");
   */
  list(): Promise<ScheduledEvent[]>;
  /**
   * Cancels a schedule. Returns false if it does not exist or is already running.
   *
   * @example
   *     await c.schedule.cancel(id);
   */
  cancel(id: string): Promise<boolean>;
}

/**
 * Shows and controls the workflow of the actor's `run`. With `{ dryRun: true }` an act only tells what it would delete, keep and
 * run again; `by` says who acts, for `status().acts`.
 */
export interface ActorWorkflow {
  /**
   * Returns how the workflow stands now; `"none"` if the actor has none.
   *
   * @example
   *     status: (c) => c.workflow.status().status,
   */
  status(): WorkflowStatus;
  /**
   * Returns entries of the history, in the order their operations were first reached. Without options, all of them with
   * their values; `values: false` leaves the values out, and `{ from: id, limit: 1 }` gets one of them.
   *
   * @example
   *     steps: (c) => c.workflow.history().filter(({ kind }) => kind === "step"),
   *     page: (c, from?: string) => c.workflow.history({ from, limit: 100, values: false }),
   * @throws {TypeError} when an option is not valid
   */
  history(options?: WorkflowHistoryOptions): WorkflowHistoryEntry[];
  /**
   * Ends the workflow as `cancelled`. With `rollback`, completed steps are undone first, as after a failure: it is `rolling_back`
   * until the last handler has run. On one that has ended nothing happens. The change is stored when it returns.
   *
   * @example
   *     stop: (c) => c.workflow.cancel(),
   *     stopAndUndo: (c) => c.workflow.cancel({ rollback: true }),
   * @throws {TypeError} when an option is not valid
   * @throws {workflow/rolling_back} when it is to be undone, and is being undone already
   */
  cancel(options: WorkflowCancelOptions & WorkflowDryRun): WorkflowPlan;
  cancel(options?: WorkflowCancelOptions): void;
  /**
   * Pauses the workflow: steps that run end and are recorded, and nothing new begins until `resume`. Actions and schedules
   * go on, messages are queued. Deadlines keep their times: after `resume`, one that passed is due at once, and a message that
   * came before it wins. On a workflow that is paused or has ended nothing happens.
   *
   * The change is stored when it returns. `reason`, at most 1,000 characters, is shown in `status()`.
   *
   * @example
   *     hold: (c, why: string) => c.workflow.pause(why),
   * @throws {TypeError} when the reason is not a string of at most 1,000 characters
   * @throws {workflow/rolling_back} when the workflow has failed and is being undone
   */
  pause(reason?: string, options?: WorkflowActOptions): void;
  /**
   * Lets a paused workflow go on. On one that is not paused, steps that wait for their next attempt make it now. In any other
   * status nothing happens. The change is stored when it returns.
   *
   * @example
   *     goOn: (c) => c.workflow.resume(),
   */
  resume(options: WorkflowActOptions & WorkflowDryRun): WorkflowPlan;
  resume(options?: WorkflowActOptions): void;
  /**
   * Lets a failed workflow try again. The operation whose error ended it starts over, as does every step that was
   * rolled back; other completed operations keep their results. A `diverged` workflow is checked again at once. In any
   * other status nothing happens.
   *
   * The change is stored when it returns, and the workflow continues after that. In a hook of a start, both happen once
   * the start has succeeded.
   *
   * @example
   *     retry: (c) => c.workflow.retry(),
   * @throws {workflow/rolling_back} when it is still being undone; in a hook of a start nothing happens then
   */
  retry(options: WorkflowActOptions & WorkflowDryRun): WorkflowPlan;
  retry(options?: WorkflowActOptions): void;
  /**
   * The other name of `retry`.
   *
   * @example
   *     recover: (c) => c.workflow.recover(),
   * @throws {workflow/rolling_back} when it is still being undone; in a hook of a start nothing happens then
   */
  recover(options: WorkflowActOptions & WorkflowDryRun): WorkflowPlan;
  recover(options?: WorkflowActOptions): void;
  /**
   * Completes the step that holds the workflow with a value, as if an attempt had returned it: one that waits for its next
   * attempt, or one whose failure ended the workflow, which is retried with that. The entry is `skipped`.
   *
   * The change is stored when it returns. A paused workflow stays paused.
   *
   * @example
   *     paidByHand: (c, id: string) => c.workflow.skip(id, { receipt: "by hand" }),
   *     wouldDo: (c, id: string) => c.workflow.skip(id, null, { dryRun: true }).sentence,
   * @throws {value/not_serializable} when the value cannot be stored
   * @throws {value/too_large} when the value is larger than the result of a step may be
   * @throws {workflow/step_passed} when the step does not hold the workflow
   * @throws {workflow/step_not_found} when the history has no entry with this id
   * @throws {workflow/not_a_step} when the entry is not a step
   * @throws {workflow/rolling_back} when the workflow is being undone
   * @throws {actor/workflow_in_flight} when an attempt of the step is running
   * @throws {TypeError} when an option is not valid
   */
  skip(entryId: string, value: unknown, options: WorkflowActOptions & WorkflowDryRun): WorkflowPlan;
  skip(entryId: string, value?: unknown, options?: WorkflowActOptions): void;
  /**
   * Runs a workflow again from a step (the `id` of its entry in `history()`), or from its first line without an id.
   * What is recorded from that step on is deleted, messages received there are queued again, and earlier steps that
   * were rolled back start over. The actor's state is not rewound. Without a workflow nothing happens.
   *
   * The change is stored when it returns; in a hook of a start, together with that start.
   *
   * @example
   *     replay: (c, id: string) => c.workflow.replayFrom(id),
   * @throws {actor/workflow_in_flight} when the workflow is neither parked nor ended
   * @throws {workflow/step_not_found} when the history has no entry with this id
   * @throws {workflow/not_a_step} when the entry is not a step
   */
  replayFrom(entryId: string | undefined, options: WorkflowActOptions & WorkflowDryRun): WorkflowPlan;
  replayFrom(entryId?: string, options?: WorkflowActOptions): void;
}

/** The context of actions. */
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

/** The context of a `run` handler. */
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

/** An action: any function whose first parameter is the context. */
export interface ActionHandler<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  (c: ActionContext<S, CP, CS, V, I, DB, E, Q>, ...args: any[]): any;
}

/** Actions by name. They may be nested in groups, to any depth. */
export interface Actions<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  [name: string]: ActionHandler<S, CP, CS, V, I, DB, E, Q> | Actions<S, CP, CS, V, I, DB, E, Q>;
}

/** A `run` handler: a plain async function, or what `workflow(fn)` returns. */
export interface RunHandler<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations> {
  (c: RunContext<S, CP, CS, V, I, DB, E, Q>): Promise<unknown>;
}

/** A `run` handler with a display name and icon. */
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
  /** Display name; has no effect. */
  readonly name?: string;
  /** Display icon; has no effect. */
  readonly icon?: string;
  readonly run: RunHandler<S, CP, CS, V, I, DB, E, Q>;
  /** Accepted, has no effect. */
  readonly inspector?: unknown;
}

/**
 * The configuration that `actor()` takes. Of each exclusive pair (`state`/`createState`, `vars`/`createVars`,
 * `connState`/`createConnState`) only one may be given.
 *
 * Types are inferred from left to right, and a callback's context fixes the type parameters it mentions. So each
 * context names only what exists when it runs, `I` (known from `createState` or `onCreate`) stays out of all of them,
 * and `A` has no constraint: with one, the actions' contexts would be made before `createState` is looked at.
 */
export interface ActorConfig<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations, A> {
  /** Declared types of this actor; ignored at run time. */
  readonly types?: unknown;
  /**
   * The first state of a new actor. Each actor gets its own copy.
   *
   * @example
   *     state: { count: 0 },
   */
  readonly state?: S;
  /**
   * Makes the first state of a new actor. Runs once, before `onCreate`; if it throws, no actor is created. An existing
   * actor whose earlier release had no state gets one at its next start, without an input; a throw fails that start.
   *
   * Where `run: workflow(…)` stands in the same literal, annotate the result, `(c, input: Order): OrderState => …`, or
   * `c`. Otherwise the compiler reaches the workflow before it knows the state, and `step.state` is `unknown` there.
   * Actions, hooks and clients know it in any case. The same holds for `createVars`.
   *
   * @example
   *     createState: (c, input: { title: string }): Show => ({ title: input.title, guests: {} }),
   */
  readonly createState?: (c: CreateStateContext<DB, Q>, input: I) => S | Promise<S>;
  /**
   * Validates the input of a new actor with a Standard Schema, which may be asynchronous. `canCreate`, `createState`
   * and `onCreate` get the schema's output. Input it rejects is `actor/validation_error`, and no actor is created. With
   * a schema, clients must give an input.
   *
   * @example
   *     inputSchema: z.object({ plan: z.enum(["free", "pro"]) }),
   */
  readonly inputSchema?: StandardSchema<any, I>;
  /**
   * Decides whether a caller may create the actor. Runs before anything of the actor exists, for every call that would
   * create it (`create()` and REST included), and never for an existing actor. True or undefined allows it; any other
   * value is `auth/forbidden`; an error it throws goes to the caller. A refusal stores nothing. `params` are the
   * connection params, validated by `connParamsSchema`, or undefined where a creation has none. Limit:
   * `onBeforeConnectTimeout`.
   *
   * All hooks of the start follow, then `onBeforeConnect` and `createConnState` for the caller. Their changes are one
   * commit after the last of them; a throw in any of them stores nothing. Effects outside the actor are not undone.
   *
   * @example
   *     canCreate: async (c, input, params) => c.internal || c.key[0] === (await verify(params?.token)).user,
   */
  readonly canCreate?: (
    c: CanCreateContext,
    input: I,
    params: CP | undefined,
  ) => boolean | void | Promise<boolean | void>;
  /**
   * The first vars of each start. Vars live in memory only.
   *
   * @example
   *     vars: { cache: new Map<string, string>() },
   */
  readonly vars?: V;
  /**
   * Makes the vars at every start; may read the state. Limit: `createVarsTimeout`.
   *
   * @example
   *     createVars: (c) => ({ parser: parserFor(c.state.language) }),
   */
  readonly createVars?: (c: CreateContext<S, unknown, DB, any, Q>, driver?: undefined) => V | Promise<V>;
  /**
   * Declares the events the actor sends.
   *
   * @example
   *     events: { noted: event<[number: number, text: string]>() },
   */
  readonly events?: E;
  /**
   * Declares the queues the actor receives. Other names are refused from outside.
   *
   * @example
   *     queues: { orders: queue<{ item: string }, { receipt: number }>() },
   */
  readonly queues?: Q;
  /**
   * Validates the params of every caller with a Standard Schema; its output is `conn.params`. Params it rejects are
   * `actor/validation_error`.
   *
   * @example
   *     connParamsSchema: z.object({ token: z.string() }),
   */
  readonly connParamsSchema?: StandardSchema<any, CP>;
  /**
   * Gives the actor an SQL database: `db()` of `perdure/db` or `perdure/db/drizzle`.
   *
   * @example
   *     db: db({ onMigrate: async (sql) => void (await sql.execute("create table if not exists books (title text)")) }),
   */
  readonly db?: DatabaseProvider<DB>;
  /**
   * Migrates the actor. Runs at every start, after the database's own migration; `isNew` is true while the actor is
   * being created. The changes of both are one commit with the creation or the migration: a throw, or exceeding
   * `onMigrateTimeout` (for both together), undoes all of them.
   *
   * @example
   *     onMigrate: (c, isNew) => void (c.state.tags ??= []),
   */
  readonly onMigrate?: (c: CreateContext<S, unknown, DB, any, Q>, isNew: boolean) => unknown;
  /**
   * Runs once in the actor's life, after its first state exists. Its changes and the creation are one commit.
   *
   * @example
   *     onCreate: async (c) => void (await c.schedule.after(86_400_000, "expire")),
   */
  readonly onCreate?: (c: CreateContext<S, unknown, DB, any, Q>, input: I) => unknown;
  /**
   * Runs at every start. At the first start it runs before the creation is stored.
   *
   * @example
   *     onWake: (c) => c.cron.every({ name: "poll", interval: 60_000, action: "poll" }),
   */
  readonly onWake?: (c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>) => unknown;
  /**
   * Admits every caller, for a socket or a single call. An error it throws goes to the caller. Until it resolves, the
   * caller is invisible to others and receives no events. Where the call would create the actor, a throw creates none.
   * Limit: `onBeforeConnectTimeout`.
   *
   * Without `canCreate` it also runs for a creation without a call (`create()`, REST) from outside, with params or
   * undefined; an error without a code thrown there is `auth/forbidden`.
   *
   * @example
   *     onBeforeConnect: (c, params: { token?: string }) => {
   *       if (params.token !== c.state.token) throw forbiddenError();
   *     },
   */
  readonly onBeforeConnect?: (c: BeforeConnectContext<S, V, unknown, DB, E, Q>, params: CP) => unknown;
  /**
   * The first state of each connection. Each connection gets its own copy.
   *
   * @example
   *     connState: { muted: false },
   */
  readonly connState?: CS;
  /**
   * Makes the first state of a connection. A throw refuses the caller. Limit: `createConnStateTimeout`.
   *
   * @example
   *     createConnState: (c, params: { user: string }) => ({ user: params.user, joinedAt: Date.now() }),
   */
  readonly createConnState?: (c: BeforeConnectContext<S, V, unknown, DB, E, Q>, params: CP) => CS | Promise<CS>;
  /**
   * Runs after the connection has joined `c.conns`. An error it throws ends the connection and goes to the caller;
   * `onDisconnect` does not run then. Does not run again after hibernation. Limit: `onConnectTimeout`.
   *
   * Do what `onDisconnect` undoes before the first `await`: a crash that cuts this hook off at an `await` keeps the
   * changes made before it, and `onDisconnect` runs.
   *
   * @example
   *     onConnect: (c, conn) => c.broadcast("joined", conn.params.user),
   */
  readonly onConnect?: (
    c: ConnContext<S, CP, CS, V, unknown, DB, E, Q>,
    conn: Conn<S, CP, CS, V, unknown, DB, E, Q>,
  ) => unknown;
  /**
   * Runs after the connection has left `c.conns`, for every connection that passed `onConnect`: at least once, even
   * after a crash (then at the next start, with code 1006). Its errors are logged. If it kills the object, later starts
   * call it again, up to five times for one connection. Limit: `onConnectTimeout`.
   *
   * @example
   *     onDisconnect: (c, conn, { code }) => c.broadcast("left", conn.params.user, code),
   */
  readonly onDisconnect?: (
    c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>,
    conn: Conn<S, CP, CS, V, unknown, DB, E, Q>,
    end: Disconnection,
  ) => unknown;
  /**
   * Runs after changes of the state are committed, once for many of them: before the caller of a callback is answered,
   * and at the end of the turn for steps, schedules and other code. It does not run for the first state, for vars, for
   * connection state, or before the vars exist.
   *
   * It only reads: a change is `actor/state_mutation_reentrant`. It is not awaited; its errors and rejections are
   * logged.
   *
   * @example
   *     onStateChange: (c, state) => c.broadcast("total", state.total),
   */
  readonly onStateChange?: (c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>, state: S) => unknown;
  /**
   * Transforms the result of every action call: the caller gets what it returns, or the error it throws. Runs after the
   * action and its `onStateChange`, within `actionTimeout`. Does not run for actions that a schedule runs.
   *
   * @example
   *     onBeforeActionResponse: (c, name, args, output) => redact(output),
   */
  readonly onBeforeActionResponse?: (
    c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>,
    name: string,
    args: unknown[],
    output: unknown,
  ) => unknown;
  /**
   * Serves a raw WebSocket (`handle.webSocket(path)`), which is already open. A throw closes it with 1011 and the
   * reason "group.code".
   *
   * With the option `canHibernateWebSocket` the socket stays open while the actor is out of memory, and this hook runs
   * again for it before its next frame, with the same `c.conn` and URL. Without the option, the socket keeps the actor
   * in memory.
   *
   * @example
   *     onWebSocket: (c, websocket) => {
   *       websocket.addEventListener("message", ({ data }) => websocket.send(data));
   *     },
   */
  readonly onWebSocket?: (c: ConnContext<S, CP, CS, V, unknown, DB, E, Q>, websocket: UniversalWebSocket) => unknown;
  /**
   * Runs when the actor has been idle for `sleepTimeout`, or after `c.sleep()`. `abortSignal` has fired; vars and state
   * are still there. Its changes are stored and its errors are logged. Limit: `sleepGracePeriod`. The next event starts
   * the actor again.
   *
   * It runs at least once per idle period. If the platform evicts the actor first, the alarm starts it again (up to
   * `onWake`) just for this. An actor without this hook has no such deadline and pays nothing.
   *
   * @example
   *     onSleep: (c) => void (c.state.lastSeen = Date.now()),
   */
  readonly onSleep?: (c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>) => unknown;
  /**
   * Answers raw HTTP requests: `handle.fetch(path)`, and everything sent to `…/request/<path>`. The request is as sent,
   * except that its path is the part after `/request` and that Perdure's headers are removed. Both bodies are streams;
   * a body that announces more than 20 MiB is refused first. The Worker answers OPTIONS.
   *
   * Changes are committed before the response leaves, and before each later part of its body. `actionTimeout` limits
   * the handler, not the body. `abortSignal` fires when the caller is gone: once a part of the body cannot be sent, or
   * earlier if the Worker has the compatibility flag `enable_request_signal`.
   *
   * An error it throws is answered like an action's. Anything but a `Response` is `actor/invalid_response` (500).
   * Without the hook, requests are answered `actor/no_request_handler` (404).
   *
   * @example
   *     onRequest: (c, request) => Response.json({ path: new URL(request.url).pathname, count: c.state.count }),
   */
  readonly onRequest?: (
    c: ConnContext<S, CP, CS, V, unknown, DB, E, Q>,
    request: Request,
  ) => Response | Promise<Response>;
  /**
   * Runs before all data of a destroyed actor is deleted; `abortSignal` has fired. Its errors are logged. Limit:
   * `sleepGracePeriod`.
   *
   * @example
   *     onDestroy: (c) => c.client<typeof registry>().directory.getOrCreate("all").remove(c.key),
   */
  readonly onDestroy?: (c: ActorContext<S, CP, CS, V, unknown, DB, E, Q>) => unknown;
  /**
   * The actor's background work: a durable workflow, or an async function that runs from every start.
   *
   * @example
   *     run: workflow(async (ctx) => {
   *       await ctx.sleep("trial", 14 * 86_400_000);
   *       await ctx.step("end-trial", (step) => void (step.state.plan = "free"));
   *     }),
   */
  readonly run?: RunHandler<S, CP, CS, V, unknown, DB, E, Q> | RunConfig<S, CP, CS, V, unknown, DB, E, Q>;
  /**
   * The functions clients can call. Groups may be nested; a nested action's name has dots. Changes are committed before
   * the caller gets the result; an action that throws keeps the changes it made. Limit: `actionTimeout`.
   *
   * @example
   *     actions: { increment: (c, by: number) => (c.state.count += by) },
   */
  readonly actions?: A & Actions<S, CP, CS, V, unknown, DB, E, Q>;
  /**
   * Validates the actions' argument lists with Standard Schemas, which may be asynchronous: in the shape of the
   * actions, or by dotted names. The handler gets the schema's output. Arguments it rejects are
   * `actor/validation_error`, and the handler does not run. Applies to scheduled actions too; their `ScheduledFireInfo`
   * is appended after validation.
   *
   * @example
   *     actionInputSchemas: { increment: z.tuple([z.number()]) },
   */
  readonly actionInputSchemas?: ActionInputSchemas;
  /** Tabs of RivetKit's inspector: built-in ones can be hidden; those of your own are not served, which the log says. */
  readonly inspector?: InspectorConfig;
  /** Timeouts and limits. */
  readonly options?: ActorOptions;
}

/** What `actor()` returns: the configuration with its types. `M` are the actions as a client calls them. */
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

/** An actor definition of any types. */
export type AnyActorDefinition = ActorDefinition<any, any, any, any, any, any, any, any, any>;

/** Actor definitions by name. */
export type ActorDefinitions = Record<string, AnyActorDefinition>;
