import { ActorError, readOptions, own, ownField } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Callback } from "../activation/callback.js";
import { extendChain, type Chain } from "../activation/call-chain.js";
import type { ConnectionView } from "../activation/connection.js";
import { addMembers, memberOf } from "./part-members.js";
import { QueueContext } from "../queue/queue-context.js";
import type { Logger } from "../ports.js";
import type { StateView } from "../state/state-view.js";

/** The members that exist at this point of the start (START-2). */
export interface Stage {
  readonly state: boolean;
  readonly vars: boolean;
}
export const BEFORE_STATE: Stage = { state: false, vars: false };
export const BEFORE_VARS: Stage = { state: true, vars: false };
export const READY: Stage = { state: true, vars: true };

/** The members that every context has. */
export class IdentityContext {
  readonly #runtime: ActorActivation;
  readonly #logged: Readonly<Record<string, unknown>> | undefined;
  #log: Logger | undefined;

  /** `logged`: fields for each line of `log`, besides the actor's name and key. */
  constructor(runtime: ActorActivation, logged?: Readonly<Record<string, unknown>>) {
    this.#runtime = runtime;
    this.#logged = logged;
  }

  get actorId(): string {
    return this.#runtime.record.actorId;
  }
  get name(): string {
    return this.#runtime.record.name;
  }
  get key(): string[] {
    return [...this.#runtime.record.key];
  }
  get log(): Logger {
    this.#log ??= this.#logged ? this.#runtime.ports.log.child(this.#logged) : this.#runtime.ports.log;
    return this.#log;
  }
  get env(): unknown {
    return this.#runtime.ports.env;
  }
}

/** What the context of a callback shows. `signal`, `request` and `conn` are made when user code asks for them. */
export interface CallbackOptions {
  readonly signal?: () => AbortSignal;
  readonly request?: () => Request;
  /** Whether the caller is code of the same Worker. */
  readonly internal?: boolean;
  /** The caller's connection. */
  readonly conn?: () => ConnectionView;
  readonly isRunHandler?: boolean;
  /** Everyone who waits for it. */
  readonly chain?: Chain;
  /** What it is in call chains. Default: `action`. */
  readonly waits?: "run" | "action";
  /** The run of user code it is for. Undefined for a run handler. */
  readonly callback?: Callback;
  /** Fields for each line of its log, such as the action's name. */
  readonly logged?: Readonly<Record<string, unknown>>;
  /** Its view of the state, if not the actor's usual one. */
  readonly state?: StateView;
}

/** The context of hooks and actions. Changes are tracked for as long as user code keeps it. */
export class CallbackContext extends IdentityContext {
  readonly #runtime: ActorActivation;
  readonly #stage: Stage;
  readonly #signal: (() => AbortSignal) | undefined;
  readonly #request: (() => Request) | undefined;
  readonly #conn: (() => ConnectionView) | undefined;
  readonly #isRunHandler: boolean;
  readonly #inherited: Chain;
  readonly #waits: "run" | "action";
  readonly #callback: Callback | undefined;
  readonly #stateView: StateView | undefined;
  #queue: QueueContext | undefined;
  readonly internal?: boolean;

  constructor(runtime: ActorActivation, stage: Stage, options: CallbackOptions = {}) {
    super(runtime, ownField(options, "logged"));
    this.#runtime = runtime;
    this.#stage = stage;
    const given = own(options);
    this.#signal = given.signal;
    this.#request = given.request;
    this.#conn = given.conn;
    this.#isRunHandler = given.isRunHandler ?? false;
    this.#inherited = given.chain ?? [];
    this.#waits = given.waits ?? "action";
    this.#callback = given.callback;
    this.#stateView = given.state;
    if (given.internal !== undefined) this.internal = given.internal;
    addMembers(this, runtime.parts.members);
  }

  get region(): string {
    return this.#runtime.ports.region;
  }
  get request(): Request | undefined {
    return this.#request?.();
  }
  get conn(): ConnectionView | undefined {
    return this.#conn?.();
  }
  get abortSignal(): AbortSignal {
    return this.#signal ? this.#signal() : this.#runtime.shutdown.signal;
  }
  get aborted(): boolean {
    return this.abortSignal.aborted;
  }

  get state(): unknown {
    return this.#view().value;
  }
  set state(value: unknown) {
    this.#view().value = value;
  }

  get vars(): unknown {
    if (!this.#stage.vars) throw new ActorError("actor", "vars_not_ready", "`vars` does not exist yet in this hook");
    return this.#runtime.vars;
  }
  set vars(value: unknown) {
    this.#runtime.vars = value;
  }

  get queue(): QueueContext {
    this.#queue ??= new QueueContext(this.#runtime, this.#isRunHandler, this.#callback?.effects, () => this.#chain());
    return this.#queue;
  }
  get schedule(): object {
    return this.#runtime.schedule.view;
  }
  get db(): unknown {
    return memberOf(this.#runtime.parts.members, "db")();
  }
  get kv(): object {
    return this.#runtime.kv;
  }
  get conns(): object {
    return this.#runtime.connections.view;
  }
  get cron(): object {
    return this.#runtime.cron.view;
  }
  get workflow(): unknown {
    return memberOf(this.#runtime.parts.members, "workflow")();
  }

  client(): unknown {
    return this.#runtime.client(() => this.#chain());
  }

  #chain(): Chain {
    const { actorId, name } = this.#runtime.record;
    return extendChain([this.#inherited, ...(this.#queue?.openChains() ?? [])], { actorId, name, waits: this.#waits });
  }

  broadcast(name: string, ...args: unknown[]): void {
    this.#runtime.connections.broadcast(name, args);
  }

  /** Destroys the actor when this callback ends, or at the end of the turn for a run handler. */
  destroy(): void {
    this.#runtime.requestDestroy(this.#callback);
    // The destroy waits for this callback, so its waits for messages must end.
    if (this.#callback) this.queue.end();
  }

  /** Sleeps once no call is in progress. A `run` handler still working is told through `abortSignal`. */
  sleep(): void {
    this.#runtime.sleep.ask();
  }

  setPreventSleep(): void {}

  get preventSleep(): boolean {
    return false;
  }

  /** Keeps the object in memory until the promise settles. Holds no lease: after a crash nothing restarts the actor. */
  waitUntil(promise: Promise<unknown>): void {
    this.#runtime.background.waitFor("A waitUntil promise", promise);
  }

  /** Keeps the actor awake until the promise settles. Holds the lease, so that the actor restarts after a crash. */
  keepAwake<T>(promise: Promise<T>): Promise<T> {
    this.#runtime.background.run("A keepAwake promise", () => promise);
    this.#runtime.commitOrThrow();
    return promise;
  }

  async saveState(options?: SaveOptions): Promise<void> {
    const { immediate } = checkSaveOptions(options);
    this.#runtime.callbacks.saveAll();
    this.#runtime.commitOrThrow();
    if (immediate) await this.#runtime.confirmed();
  }

  #view(): StateView {
    if (!this.#stage.state) throw new ActorError("actor", "state_not_ready", "`state` does not exist yet in this hook");
    return this.#stateView ?? this.#runtime.stateView();
  }
}

/** Options of `saveState`. */
export interface SaveOptions {
  /** Resolve only when the write is confirmed on disk. */
  readonly immediate?: boolean;
  /** In ms. Has no effect: a commit never waits. */
  readonly maxWait?: number;
}

/** @throws {actor/invalid_option} when an option is unknown or invalid */
export function checkSaveOptions(options: unknown): SaveOptions {
  const given = readOptions<Record<string, unknown>>(
    "saveState",
    options as Record<string, unknown> | undefined,
    ["immediate", "maxWait"],
    invalid,
  );
  const { immediate, maxWait } = given;
  if (immediate !== undefined && typeof immediate !== "boolean")
    throw invalid("`immediate` of `saveState` must be true or false");
  if (maxWait !== undefined && !(typeof maxWait === "number" && maxWait >= 0 && maxWait < Infinity)) {
    throw invalid("`maxWait` of `saveState` must be a finite number of ms, zero or more");
  }
  return given;
}

function invalid(message: string): ActorError {
  return new ActorError("actor", "invalid_option", message);
}
