import { AsyncLocalStorage } from "node:async_hooks";
import { KEYS } from "../../actor/index.js";
import { ActorError } from "../../protocol/index.js";
import type { WorldActor } from "../../testing/index.js";
import type { WorldHost } from "../world/world-host.js";
import { describeActor, type CrashMoment, type SeenCommit } from "./crash-moment.js";

/** The actor whose code runs. */
const RUNNING = new AsyncLocalStorage<string>();
/** So often a call is made again that broke because its object died. */
const MAX_TRIES = 10;

/** A world in which something befalls one actor once, and that notes what its actors do. */
export class DisturbedWorld {
  /** Every commit, in order. */
  readonly commits: SeenCommit[] = [];
  /** How often each step began: `"charge" of order ["o-1"]`, with loops and branches in the name. */
  readonly attempts = new Map<string, number>();
  /** Which actors called or sent to each. */
  readonly callers = new Map<string, Set<string>>();
  readonly #host: WorldHost;
  readonly #moment: CrashMoment | undefined;
  /** Whether the moment has come. */
  hasCome = false;
  /** How often the workload has made a call again. */
  repeatedCalls = 0;
  /** How often a process has died. */
  #deaths = 0;

  constructor(host: WorldHost, moment?: CrashMoment) {
    this.#host = host;
    this.#moment = moment;
    this.#countAttempts();
    this.#noteCallers();
    this.#watchCommits();
    this.#repeatCalls();
    // A call that breaks and that nobody awaits is logged on the platform, and ends a process of Node's.
    host.hooks.clientEffects = { send: handled, call: (_, work) => handled(work) };
  }

  #countAttempts(): void {
    const { hooks } = this.#host;
    const { interceptAttempt } = hooks;
    hooks.interceptAttempt = (attempt, ...more) => {
      const { step: at, isRollback } = attempt;
      const step = `${isRollback ? "rollback of " : ""}${JSON.stringify(at.join("/"))} of ${describeActor(attempt)}`;
      this.attempts.set(step, (this.attempts.get(step) ?? 0) + 1);
      return interceptAttempt ? interceptAttempt(attempt, ...more) : attempt.run();
    };
  }

  #noteCallers(): void {
    const { hooks } = this.#host;
    const { enter } = hooks;
    hooks.enter = (process, run) => {
      const actor = describeActor(process.actor);
      const caller = RUNNING.getStore();
      if (caller !== undefined && caller !== actor) {
        const known = this.callers.get(actor) ?? new Set();
        this.callers.set(actor, known.add(caller));
      }
      return RUNNING.run(actor, () => (enter ? enter(process, run) : run()));
    };
  }

  #watchCommits(): void {
    const { hooks } = this.#host;
    const { fault, onCommit, onDurable } = hooks;
    hooks.fault = (actor, commit) => this.#faultAt(actor, commit) ?? fault?.(actor, commit);
    hooks.onCommit = (actor, rows, alarmAt) => {
      const rests = rows.has(KEYS.actor) && !rows.has(KEYS.lease);
      this.commits.push({ actor: describeActor(actor), commit: actor.store.commits, rests });
      onCommit?.(actor, rows, alarmAt);
    };
    hooks.onDurable = (actor, rows, alarmAt) => {
      onDurable?.(actor, rows, alarmAt);
      if (this.#isMoment(actor, actor.store.commits, true)) this.#strike(actor);
    };
  }

  #isMoment(actor: WorldActor, commit: number, isStored: boolean): boolean {
    const moment = this.#moment;
    if (moment === undefined || this.hasCome || (moment.mishap === "dies before") === isStored) return false;
    return (isStored ? commit >= moment.commit : commit === moment.commit) && describeActor(actor) === moment.actor;
  }

  #faultAt(actor: WorldActor, commit: number): "crash-before" | undefined {
    if (!this.#isMoment(actor, commit, false)) return undefined;
    this.hasCome = true;
    this.#deaths += 1;
    return "crash-before";
  }

  /** In the next turn: the answers that waited for the commit leave first. */
  #strike(actor: WorldActor): void {
    this.hasCome = true;
    setImmediate(() => {
      this.#deaths += 1;
      if (this.#moment?.mishap === "dies after") actor.crash();
      else void actor.evict();
    });
  }

  /** The workload calls as a caller who tries again when a call broke without an answer. */
  #repeatCalls(): void {
    const answer = this.#host.answer.bind(this.#host);
    this.#host.answer = (request) =>
      this.#repeated(
        () => answer(request.clone() as Request),
        ({ status }) => status === 503,
      );
    this.#host.hooks.callOver = async (call) => {
      const [outcome] = await this.#repeated(
        () => Promise.allSettled([call()]),
        ([each]) => hasLostItsConnection(each),
      );
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    };
  }

  async #repeated<T>(call: () => Promise<T>, isBroken: (outcome: T) => boolean): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const deaths = this.#deaths;
      const outcome = await call();
      if (!isBroken(outcome) || deaths === this.#deaths || tries >= MAX_TRIES) return outcome;
      this.repeatedCalls += 1;
    }
  }
}

function hasLostItsConnection(outcome: PromiseSettledResult<unknown>): boolean {
  const error: unknown = outcome.status === "rejected" ? outcome.reason : undefined;
  return error instanceof ActorError && error.group === "client" && error.code === "connection_closed";
}

function handled<T>(work: () => Promise<T>): Promise<T> {
  const answer = work();
  answer.catch(() => {});
  return answer;
}
