import { ActorError, type Effects } from "../../protocol/index.js";
import type { AttemptInfo, AttemptSession } from "../../workflow/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { Callback } from "../activation/callback.js";
import { extendChain, type Chain } from "../activation/call-chain.js";
import { IdentityContext } from "../callbacks/callback-context.js";
import { addMembers, memberOf } from "../callbacks/part-members.js";
import type { StepUse } from "../activation/part-members.js";
import { isRefusedByState } from "../state/refusals.js";
import type { StateView } from "../state/state-view.js";
import { attemptId, type WorkflowBranches } from "./workflow-branches.js";

/** Whether an attempt is still running; shared by its context and its session. */
interface Gate {
  readonly callback: Callback;
  open: boolean;
  /** Once it is closed. */
  onClose: (() => void) | undefined;
}

/** The actor, as its steps use it. */
export interface SteppingActor extends ActorActivation {
  readonly queue: ActorActivation["queue"] & {
    /** @throws queue/full unless these bodies may be stored as well */
    checkRoom(bodies: readonly Uint8Array[]): void;
  };
}

/** Begins an attempt's view of the actor. */
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
        const msg = "A step ended without awaiting these calls: nobody is told what becomes of them";
        runtime.ports.log.debug({ msg, step: info.stepName, attempt: info.attempt, calls: [...calls] });
      }
      callback.over();
      branches.ended(info);
      runtime.callbackEnded(callback);
      gate.onClose?.();
    },
  };
}

/** A message that leaves with the step's success; without a body as long as its validator has not answered. */
interface Staged {
  readonly name: string;
  body: Uint8Array | undefined;
}

/** What an attempt has begun. */
interface Begun {
  /** What it waits for. */
  readonly effects: Effects;
  /** Calls to other actors that are open; nobody waits for them but the callback. */
  readonly calls: Set<string>;
  readonly outbox: Staged[];
}

/** What a step's callback gets: dead once its attempt has ended. */
class StepContext extends IdentityContext {
  readonly #runtime: ActorActivation;
  readonly #branches: WorkflowBranches;
  readonly #info: AttemptInfo;
  readonly #gate: Gate;
  readonly #view: StateView | undefined;
  readonly #begun: Begun;
  /** Aborted when the attempt has ended. */
  #attempt: AbortSignal | undefined;
  #schedule: object | undefined;
  #db: unknown;
  #cron: object | undefined;
  readonly queue: { send(name: string, body: unknown): Promise<void> };

  constructor(runtime: ActorActivation, branches: WorkflowBranches, info: AttemptInfo, gate: Gate, begun: Begun) {
    super(runtime, { step: info.stepName, attempt: info.attempt });
    this.#runtime = runtime;
    this.#branches = branches;
    this.#info = info;
    this.#gate = gate;
    this.#view = runtime.state?.createView({ onRead: () => this.#check("state"), onWrite: () => runtime.checkAlive() });
    this.#begun = begun;
    // Staged: stored with the step's success; a failed attempt sends nothing.
    this.queue = Object.freeze({
      send: (name: string, body: unknown) => this.#begin("queue.send", () => this.#stage(name, body)),
    });
    const { stepMembers } = runtime.parts;
    addMembers(this, new Map([...stepMembers].map(([name, make]) => [name, () => make(this.#use(name))])));
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

  /** A branch among others holds nothing that only it could answer. */
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

  /** Stored with the success, in the order of the calls, whenever its validator answers. */
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

  /** What the attempt begins, and waits for. Once it has ended, nothing is begun. */
  #begin<T>(feature: string, work: () => T | PromiseLike<T>): Promise<T> {
    try {
      this.#check(feature);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#begun.effects.begin(work);
  }

  /** A call that the attempt does not wait for: it is named if the callback did not either. */
  #call<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { calls } = this.#begun;
    calls.add(what);
    return work().finally(() => calls.delete(what));
  }

  #endWith(attempt: AbortController): AbortSignal {
    this.#gate.onClose = () => attempt.abort();
    return attempt.signal;
  }

  /** Progress is live: it leaves at once, after what is dirty has been committed, whatever becomes of the attempt. */
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

  /** The same object, but that each of its methods, all of which give promises, is begun as a part of the attempt. */
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
