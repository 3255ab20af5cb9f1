import { AsyncLocalStorage } from "node:async_hooks";
import { KEYS } from "../../actor/index.js";
import { ActorError, own } from "../../protocol/index.js";
import type { WorldActor } from "../../testing/index.js";
import type { WorldHost } from "../world/world-host.js";
import { describeActor, type CrashMoment, type SeenCommit, type Write } from "./crash-moment.js";

/** The actor whose code runs. */
const RUNNING = new AsyncLocalStorage<string>();
/** So often a call is made again that broke because its object died. */
const MAX_TRIES = 10;

/** How much of each an actor has written; `pending` is not durable yet. */
type Writes = Record<Write, number> & { readonly pending: SeenCommit[] };

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
  /** How often a process has died, or left memory. */
  #deaths = 0;
  readonly #writes = new Map<WorldActor, Writes>();
  /** Why a workflow's code did not match its history. */
  divergence: string | undefined;
  /** What a write brings about has come about. */
  #nextTurn: Promise<void> | undefined;

  constructor(host: WorldHost, moment?: CrashMoment) {
    this.#host = host;
    this.#moment = moment;
    this.#countAttempts();
    this.#noteCallers();
    this.#watchCommits();
    this.#noteDivergences();
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
    const { fault, onCommit, onDurable, deleteFault } = hooks;
    hooks.fault = (actor, commit) => (this.#isLost(actor, "commit", commit) ? "crash-before" : fault?.(actor, commit));
    hooks.onCommit = (actor, rows, alarmAt) => {
      this.#see(actor, "commit", actor.store.commits);
      onCommit?.(actor, rows, alarmAt);
    };
    hooks.deleteFault = (actor) => {
      const number = this.#writesOf(actor).deletion + 1;
      if (this.#isLost(actor, "deletion", number)) return "crash-before";
      this.#see(actor, "deletion", number);
      return deleteFault?.(actor);
    };
    hooks.onDurable = (actor, rows, alarmAt) => {
      onDurable?.(actor, rows, alarmAt);
      const written = this.#writesOf(actor).pending.splice(0);
      const hasWork = !rows.has(KEYS.actor) || rows.has(KEYS.lease);
      // In the next turn: the answers that waited for the commit leave first. What is called then comes after it.
      this.#nextTurn = new Promise((resolve) => {
        setImmediate(() => {
          const rests = !hasWork && !actor.isServing;
          for (const each of written) each.rests = rests;
          resolve(this.#isDue(actor, rests) ? this.#strike(actor) : undefined);
        });
      });
    };
  }

  #noteDivergences(): void {
    const { hooks } = this.#host;
    const { onLog } = hooks;
    hooks.onLog = (level, entry) => {
      const { code, msg } = own((typeof entry === "object" ? entry : null) as Readonly<Record<string, unknown>> | null);
      if (String(code).includes("history_diverged")) this.divergence ??= String(msg);
      onLog?.(level, entry);
    };
  }

  #see(actor: WorldActor, write: Write, commit: number): void {
    const seen: SeenCommit = { actor: describeActor(actor), write, commit, rests: false };
    const writes = this.#writesOf(actor);
    writes[write] = commit;
    writes.pending.push(seen);
    this.commits.push(seen);
  }

  #writesOf(actor: WorldActor): Writes {
    let writes = this.#writes.get(actor);
    if (!writes) this.#writes.set(actor, (writes = { commit: 0, deletion: 0, pending: [] }));
    return writes;
  }

  /** Whether the process is to die before this write. Then it has come. */
  #isLost(actor: WorldActor, write: Write, commit: number): boolean {
    const moment = this.#moment;
    const isIt = moment?.mishap === "dies before" && moment.write === write && moment.commit === commit;
    if (!isIt || this.hasCome || describeActor(actor) !== moment.actor) return false;
    this.hasCome = true;
    this.#deaths += 1;
    return true;
  }

  /** Whether what is to come after a write comes now, when all of them are stored. */
  #isDue(actor: WorldActor, rests: boolean): boolean {
    const moment = this.#moment;
    if (!moment || this.hasCome || moment.mishap === "dies before" || describeActor(actor) !== moment.actor)
      return false;
    return this.#writesOf(actor)[moment.write] >= moment.commit && (rests || moment.mishap === "dies after");
  }

  async #strike(actor: WorldActor): Promise<void> {
    this.hasCome = true;
    if (this.#moment?.mishap === "dies after") actor.crash();
    else await actor.evict();
    this.#deaths += 1;
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
      await this.#nextTurn;
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
