import { ActorError, type Effects } from "../../protocol/index.js";
import type { AttemptInfo, AttemptSession } from "../../workflow/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { Callback } from "../activation/callback.js";
import { extendChain, type Chain } from "../activation/call-chain.js";
import { IdentityContext } from "../callbacks/callback-context.js";
import { addMembers, memberOf } from "../callbacks/part-members.js";
import { loggedRun } from "../activation/workflow-outcome.js";
import type { StepUse } from "../activation/part-members.js";
import { isRefusedByState } from "../state/refusals.js";
import type { StateView } from "../state/state-view.js";
import { attemptId, type WorkflowBranches } from "./workflow-branches.js";

/** Whether an attempt is still running. Shared by its context and its session. */
interface Gate {
  readonly callback: Callback;
  open: boolean;
  /** Called when the gate closes. */
  onClose: (() => void) | undefined;
}

/** The actor as its steps see it. */
export interface SteppingActor extends ActorActivation {
  readonly queue: ActorActivation["queue"] & {
    /** @throws {queue/full} when these bodies do not fit in the queue */
    checkRoom(bodies: readonly Uint8Array[]): void;
  };
}

/** Opens the context and the session of an attempt. */
export function openAttempt(runtime: SteppingActor, branches: WorkflowBranches, info: AttemptInfo): AttemptSession {
  const callback = new Callback(runtime.callbacks, `step ${JSON.stringify(info.stepName)}`);
  const { effects } = callback;
  const gate: Gate = { callback, open: true, onClose: undefined };
  const calls = new Set<string>();
  const outbox: Staged[] = [];
  const stateBefore = runtime.state?.version;
  const writesBefore = runtime.parts.writes;
  branches.began(info);
  return {
    get changedState() {
      return (
        (runtime.state !== undefined && runtime.state.version !== stateBefore) || runtime.parts.writes !== writesBefore
      );
    },
    context: new StepContext(runtime, branches, info, gate, { effects, calls, outbox }),
    isRefusal: isRefusedByState,
    call: (code) => runtime.begin(code, effects),
    begun: () => effects.settled(),
    succeed: () => {
      callback.over();
      const messages = outbox.flatMap(({ name, body }) => (body ? [{ name, body }] : []));
      if (messages.length > 0) runtime.queue.checkRoom(messages.map(({ body }) => body));
      for (const { name, body } of messages) runtime.stageMessage(name, body);
    },
    close: () => {
      gate.open = false;
      if (calls.size > 0) {
        const msg = "A step ended without awaiting these calls: their results are lost";
        runtime.ports.log.debug({
          msg,
          ...loggedRun(runtime.record),
          step: info.stepName,
          attempt: info.attempt,
          calls: [...calls],
        });
      }
      callback.over();
      branches.ended(info);
      runtime.callbackEnded(callback);
      gate.onClose?.();
    },
  };
}

/** A message that is sent when the step succeeds. It has no body until its validator has resolved. */
interface Staged {
  readonly name: string;
  body: Uint8Array | undefined;
}

/** The work that an attempt has begun. */
interface Begun {
  /** Work that the attempt waits for. */
  readonly effects: Effects;
  /** Open calls to other actors, which only the callback may await. */
  readonly calls: Set<string>;
  readonly outbox: Staged[];
}

/** The context of a step's callback. Unusable once its attempt has ended. */
class StepContext extends IdentityContext {
  readonly #runtime: ActorActivation;
  readonly #branches: WorkflowBranches;
  readonly #info: AttemptInfo;
  readonly #gate: Gate;
  #view: StateView | undefined;
  readonly #begun: Begun;
  /** Aborts when the attempt has ended. */
  #attempt: AbortSignal | undefined;
  #schedule: object | undefined;
  #db: unknown;
  #cron: object | undefined;
  #queue: { send(name: string, body: unknown): Promise<void> } | undefined;

  constructor(runtime: ActorActivation, branches: WorkflowBranches, info: AttemptInfo, gate: Gate, begun: Begun) {
    super(runtime, { ...loggedRun(runtime.record), step: info.stepName, attempt: info.attempt });
    this.#runtime = runtime;
    this.#branches = branches;
    this.#info = info;
    this.#gate = gate;
    this.#begun = begun;
    const { stepMembers } = runtime.parts;
    if (stepMembers.size > 0)
      addMembers(this, new Map([...stepMembers].map(([name, make]) => [name, () => make(this.#use(name))])));
  }

  /** What it sends is staged until the step succeeds; a failed attempt sends nothing. */
  get queue(): { send(name: string, body: unknown): Promise<void> } {
    this.#queue ??= Object.freeze({
      send: (name: string, body: unknown) => this.#begin("queue.send", () => this.#stage(name, body)),
    });
    return this.#queue;
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
    this.#db ??= memberOf(this.#runtime.parts.stepMembers, "db")(this.#use("db"));
    return this.#db;
  }

  client(): unknown {
    this.#check("client");
    this.#attempt ??= this.#endWith(new AbortController());
    return this.#runtime.client(() => this.#chain(), {
      guard: () => this.#check("client"),
      end: this.#attempt,
      send: (work) => this.#begun.effects.begin(work),
      call: (what, work) => this.#call(what, work),
    });
  }

  /** One branch among several need not answer the held messages, as another may. */
  #chain(): Chain {
    const { queue, record } = this.#runtime;
    const inherited = this.#branches.isSingle ? queue.heldChains() : [];
    return extendChain(inherited, {
      actorId: record.actorId,
      name: record.name,
      waits: "workflow",
      step: attemptId(this.#info),
    });
  }

  /** Stages a message. Messages are stored in the order of the calls, whenever their validators resolve. */
  #stage(name: string, body: unknown): undefined | Promise<undefined> {
    const prepared = this.#runtime.queue.prepare(name, body);
    const staged: Staged = { name, body: prepared instanceof Promise ? undefined : prepared };
    this.#begun.outbox.push(staged);
    if (!(prepared instanceof Promise)) return undefined;
    return prepared.then((bytes) => {
      this.#check("queue.send");
      staged.body = bytes;
      return undefined;
    });
  }

  /** Begins work that the attempt waits for. Rejects once the attempt has ended. */
  #begin<T>(feature: string, work: () => T | PromiseLike<T>): Promise<T> {
    try {
      this.#check(feature);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#begun.effects.begin(work);
  }

  /** Tracks a call that the attempt does not wait for, to log it if the callback did not await it. */
  #call<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { calls } = this.#begun;
    calls.add(what);
    return work().finally(() => calls.delete(what));
  }

  #endWith(attempt: AbortController): AbortSignal {
    this.#gate.onClose = () => attempt.abort();
    return attempt.signal;
  }

  /** Sends an event at once, after committing dirty changes, even if the attempt fails later. */
  broadcast(name: string, ...args: unknown[]): void {
    this.#check("broadcast");
    this.#runtime.connections.broadcast(name, args);
  }

  get schedule(): object {
    this.#check("schedule");
    this.#schedule ??= this.#guarded(this.#runtime.schedule.view, "schedule");
    return this.#schedule;
  }

  get cron(): object {
    this.#check("cron");
    this.#cron ??= this.#guarded(this.#runtime.cron.view, "cron");
    return this.#cron;
  }

  destroy(): void {
    this.#check("destroy");
    this.#runtime.requestDestroy(this.#gate.callback);
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

  /** Wraps an object of asynchronous methods, so that the attempt waits for each call. */
  #guarded(target: object, feature: string): object {
    return new Proxy(target, {
      get: (_, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== "function") return member;
        return (...args: unknown[]): Promise<unknown> =>
          this.#begin(feature, () => Reflect.apply(member as (...args: unknown[]) => unknown, target, args));
      },
    });
  }

  #use(feature: string): StepUse {
    return { guard: () => this.#check(feature), begin: (work) => this.#begun.effects.begin(work) };
  }

  #stateView(): StateView {
    this.#check("state");
    this.#view ??= this.#runtime.state?.createView({
      onRead: () => this.#check("state"),
      onWrite: () => this.#runtime.checkAlive(),
    });
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
