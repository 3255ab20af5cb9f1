import { ActorError, readOptions, own, ownField } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Callback } from "../activation/callback.js";
import { extendChain, type Chain } from "../activation/call-chain.js";
import type { ConnectionView } from "../activation/connection.js";
import { addMembers, memberOf } from "./part-members.js";
import { QueueContext } from "../queue/queue-context.js";
import type { Logger } from "../ports.js";
import type { StateView } from "../state/state-view.js";

/** Which members a callback may use already (START-2). */
export interface Stage {
  readonly state: boolean;
  readonly vars: boolean;
}
export const BEFORE_STATE: Stage = { state: false, vars: false };
export const BEFORE_VARS: Stage = { state: true, vars: false };
export const READY: Stage = { state: true, vars: true };

/** Who the actor is: the same in every context. */
export class IdentityContext {
  readonly #runtime: ActorActivation;
  readonly #logged: Readonly<Record<string, unknown>> | undefined;
  #log: Logger | undefined;

  /** `logged`: what each line of `log` says beside the actor's name and key. */
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
}

export interface CallbackOptions {
  readonly signal?: AbortSignal;
  readonly request?: Request;
  /** The caller is code of the same Worker. */
  readonly internal?: boolean;
  /** On whose behalf it runs. */
  readonly conn?: ConnectionView;
  readonly isRunHandler?: boolean;
  /** Who waits for it. */
  readonly chain?: Chain;
  /** What of the actor it is; by default an action. */
  readonly waits?: "run" | "action";
  /** Which run of user code it is for; a run handler is none that ends. */
  readonly callback?: Callback;
  /** What its log says in each line: the action's name. */
  readonly logged?: Readonly<Record<string, unknown>>;
  /** How it sees the state, if not as all others do. */
  readonly state?: StateView;
}

/** What hooks and actions get. Lives as long as user code keeps it; its changes are always tracked. */
export class CallbackContext extends IdentityContext {
  readonly #runtime: ActorActivation;
  readonly #stage: Stage;
  readonly #signal: AbortSignal;
  readonly #isRunHandler: boolean;
  readonly #inherited: Chain;
  readonly #waits: "run" | "action";
  readonly #callback: Callback | undefined;
  readonly #stateView: StateView | undefined;
  #queue: QueueContext | undefined;
  readonly request?: Request;
  readonly internal?: boolean;
  readonly conn?: ConnectionView;

  constructor(runtime: ActorActivation, stage: Stage, options: CallbackOptions = {}) {
    super(runtime, ownField(options, "logged"));
    this.#runtime = runtime;
    this.#stage = stage;
    const given = own(options);
    this.#signal = given.signal ?? runtime.shutdown.signal;
    this.#isRunHandler = given.isRunHandler ?? false;
    this.#inherited = given.chain ?? [];
    this.#waits = given.waits ?? "action";
    this.#callback = given.callback;
    this.#stateView = given.state;
    if (given.request) this.request = given.request;
    if (given.internal !== undefined) this.internal = given.internal;
    if (given.conn) this.conn = given.conn;
    addMembers(this, runtime.parts.members);
  }

  get region(): string {
    return this.#runtime.ports.region;
  }
  get abortSignal(): AbortSignal {
    return this.#signal;
  }
  get aborted(): boolean {
    return this.#signal.aborted;
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

  /** The actor ends when this callback has; a run handler may never end, so its turn counts. */
  destroy(): void {
    this.#runtime.requestDestroy(this.#callback);
    // Its end is waited for: it does not wait for what may never come.
    if (this.#callback) this.queue.end();
  }

  /** As soon as nobody is served and nothing but the run handler works. */
  sleep(): void {
    this.#runtime.sleep.ask();
  }

  setPreventSleep(): void {}

  get preventSleep(): boolean {
    return false;
  }

  /** Work that a crash should resume from outside traffic only: the object stays for it, the lease is not held. */
  waitUntil(promise: Promise<unknown>): void {
    this.#runtime.background.waitFor("A waitUntil promise", promise);
  }

  /** Keeps the object awake until the promise settles. */
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

/** What `saveState` takes. */
export interface SaveOptions {
  /** Resolves only when the write is confirmed on disk. */
  readonly immediate?: boolean;
  /** ms; of no consequence, as a commit never waits here. */
  readonly maxWait?: number;
}

/** @throws actor/invalid_option */
export function checkSaveOptions(options: unknown): SaveOptions {
  const given = readOptions<Record<string, unknown>>(
    "saveState",
    options as Record<string, unknown> | undefined,
    ["immediate", "maxWait"],
    invalid,
  );
  const { immediate, maxWait } = given;
  if (immediate !== undefined && typeof immediate !== "boolean")
    throw invalid("`immediate` of `saveState` is true or false");
  if (maxWait !== undefined && !(typeof maxWait === "number" && maxWait >= 0 && maxWait < Infinity)) {
    throw invalid("`maxWait` of `saveState` is a finite number of ms, zero or more");
  }
  return given;
}

function invalid(message: string): ActorError {
  return new ActorError("actor", "invalid_option", message);
}
