import { ActorError } from "../protocol/index.js";
import type { AttemptInfo, AttemptSession } from "../workflow/index.js";
import type { ActorActivation, Callback } from "./activation.js";
import type { ConnectionView } from "./connection.js";
import { databaseOf } from "./database.js";
import { QueueContext } from "./queue-context.js";
import type { StateView } from "./live-state.js";
import type { Logger } from "./ports.js";
import { checkSaveOptions, type SaveOptions } from "./save-options.js";

/** Which members a callback may use already (`spec/api.md` B.9). */
export interface Stage {
  readonly state: boolean;
  readonly vars: boolean;
}
export const BEFORE_STATE: Stage = { state: false, vars: false };
export const BEFORE_VARS: Stage = { state: true, vars: false };
export const READY: Stage = { state: true, vars: true };

/** Who the actor is: the same in every context. */
class IdentityContext {
  readonly #runtime: ActorActivation;

  constructor(runtime: ActorActivation) {
    this.#runtime = runtime;
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
    return this.#runtime.ports.log;
  }
}

export interface CallbackOptions {
  readonly signal?: AbortSignal;
  readonly request?: Request;
  /** On whose behalf it runs. */
  readonly conn?: ConnectionView;
  readonly isRunHandler?: boolean;
  readonly callback?: Callback;
  /** How it sees the state, if not as all others do. */
  readonly state?: StateView;
}

/** What hooks and actions get. Lives as long as user code keeps it; its changes are always tracked. */
export class CallbackContext extends IdentityContext {
  readonly #runtime: ActorActivation;
  readonly #stage: Stage;
  readonly #signal: AbortSignal;
  readonly #isRunHandler: boolean;
  readonly #callback: Callback | undefined;
  readonly #stateView: StateView | undefined;
  #queue: QueueContext | undefined;
  readonly request?: Request;
  readonly conn?: ConnectionView;

  constructor(runtime: ActorActivation, stage: Stage, options: CallbackOptions = {}) {
    super(runtime);
    this.#runtime = runtime;
    this.#stage = stage;
    this.#signal = options.signal ?? runtime.shutdown.signal;
    this.#isRunHandler = options.isRunHandler ?? false;
    this.#callback = options.callback ?? (this.#isRunHandler ? undefined : this);
    this.#stateView = options.state;
    if (options.request) this.request = options.request;
    if (options.conn) this.conn = options.conn;
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
    this.#queue ??= new QueueContext(this.#runtime, this.#isRunHandler);
    return this.#queue;
  }
  get schedule(): object {
    return this.#runtime.schedule.view;
  }
  get db(): unknown {
    return databaseOf(this.#runtime).client;
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
  get workflow(): object {
    return this.#runtime.control;
  }

  client(): unknown {
    return this.#runtime.client();
  }

  broadcast(name: string, ...args: unknown[]): void {
    this.#runtime.connections.broadcast(name, args);
  }

  /** The actor ends when this callback has; a run handler may never end, so its turn counts. */
  destroy(): void {
    this.#runtime.requestDestroy(this.#callback);
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
    this.#runtime.state?.checkChanges();
    this.#runtime.commitOrThrow();
    if (immediate) await this.#runtime.confirmed();
  }

  #view(): StateView {
    if (!this.#stage.state) throw new ActorError("actor", "state_not_ready", "`state` does not exist yet in this hook");
    return this.#stateView ?? this.#runtime.stateView();
  }
}

/** Whether an attempt is still running; shared by its context and its session. */
interface Gate {
  open: boolean;
  /** Once it is closed. */
  onClose?: () => void;
}

/** Begins an attempt's view of the actor; `staged` is called before its success brings messages into the queue, and may throw. */
export function openAttempt(runtime: ActorActivation, info: AttemptInfo, staged: (bodies: readonly Uint8Array[]) => void): AttemptSession {
  const gate: Gate = { open: true };
  const outbox: { name: string; body: Uint8Array }[] = [];
  const stateBefore = runtime.state?.version;
  const begun = runtime.state?.restores;
  const writesBefore = runtime.database?.writes;
  return {
    get changedState() {
      return (runtime.state !== undefined && runtime.state.version !== stateBefore) || runtime.database?.writes !== writesBefore;
    },
    context: new StepContext(runtime, info, gate, outbox),
    succeed: () => {
      // The state is measured before the success is recorded, so that what cannot be stored is this step's failure.
      runtime.state?.checkChanges(begun);
      if (outbox.length > 0) staged(outbox.map(({ body }) => body));
      for (const { name, body } of outbox) runtime.stageMessage(name, body);
    },
    close: () => {
      gate.open = false;
      runtime.state?.putBackUnstorable();
      runtime.callbackEnded(gate);
      gate.onClose?.();
    },
  };
}

/** What a step's callback gets: dead once its attempt has ended. */
class StepContext extends IdentityContext {
  readonly #runtime: ActorActivation;
  readonly #info: AttemptInfo;
  readonly #gate: Gate;
  readonly #view: StateView | undefined;
  /** Aborted when the attempt has ended. */
  #attempt: AbortSignal | undefined;
  #schedule: object | undefined;
  #db: unknown;
  #cron: object | undefined;
  readonly queue: { send(name: string, body: unknown): Promise<void> };

  constructor(runtime: ActorActivation, info: AttemptInfo, gate: Gate, outbox: { name: string; body: Uint8Array }[]) {
    super(runtime);
    this.#runtime = runtime;
    this.#info = info;
    this.#gate = gate;
    this.#view = runtime.state?.createView(() => this.#check("state"));
    // Staged: stored with the step's success; a failed attempt sends nothing (decision 15).
    this.queue = Object.freeze({
      send: async (name: string, body: unknown) => {
        this.#check("queue.send");
        const bytes = await runtime.queue.prepare(name, body);
        this.#check("queue.send");
        outbox.push({ name, body: bytes });
      },
    });
  }

  get abortSignal(): AbortSignal {
    return this.#info.abortSignal;
  }
  get attempt(): number {
    return this.#info.attempt;
  }
  get maxRetries(): number {
    return this.#info.maxRetries;
  }

  get state(): unknown {
    return this.#stateView().value;
  }
  set state(value: unknown) {
    this.#stateView().value = value;
  }

  get vars(): unknown {
    this.#check("vars");
    return this.#runtime.vars;
  }
  set vars(value: unknown) {
    this.#check("vars");
    this.#runtime.vars = value;
  }

  get db(): unknown {
    this.#check("db");
    this.#db ??= databaseOf(this.#runtime).createClient(() => this.#check("db"));
    return this.#db;
  }

  client(): unknown {
    this.#check("client");
    this.#attempt ??= this.#endWith(new AbortController());
    return this.#runtime.client(() => this.#check("client"), this.#attempt);
  }

  #endWith(attempt: AbortController): AbortSignal {
    this.#gate.onClose = () => attempt.abort();
    return attempt.signal;
  }

  /** Progress is live: it leaves at once, after what is dirty has been committed, whatever becomes of the attempt (decision 15). */
  broadcast(name: string, ...args: unknown[]): void {
    this.#check("broadcast");
    this.#runtime.connections.broadcast(name, args);
  }

  get schedule(): object {
    this.#check("schedule");
    this.#schedule ??= guardMethods(this.#runtime.schedule.view, () => this.#check("schedule"));
    return this.#schedule;
  }

  get cron(): object {
    this.#check("cron");
    this.#cron ??= guardMethods(this.#runtime.cron.view, () => this.#check("cron"));
    return this.#cron;
  }

  destroy(): void {
    this.#check("destroy");
    this.#runtime.requestDestroy(this.#gate);
  }

  keepAwake<T>(promise: Promise<T>): Promise<T> {
    this.#check("keepAwake");
    this.#runtime.background.run("A keepAwake promise", () => promise);
    return promise;
  }

  waitUntil(promise: Promise<unknown>): void {
    this.#check("waitUntil");
    this.#runtime.background.waitFor("A waitUntil promise", promise);
  }

  #stateView(): StateView {
    this.#check("state");
    return this.#view ?? this.#runtime.stateView();
  }

  #check(feature: string): void {
    if (this.#gate.open) return;
    throw new ActorError(
      "workflow",
      "step_ended",
      `\`${feature}\` is only available inside workflow steps: step "${this.#info.stepName}", attempt ${this.#info.attempt}, has ended`,
    );
  }
}

/** The same object, but that each of its methods, all of which give promises, rejects with what `guard` throws. */
function guardMethods(target: object, guard: () => void): object {
  return new Proxy(target, {
    get: (_, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]): Promise<unknown> => {
        guard();
        return Reflect.apply(member as (...args: unknown[]) => unknown, target, args);
      };
    },
  });
}
