/**
 * One workflow function, run from its first line for one activation.
 *
 * Owns: the root scope, the start and end of the function, its rollback. Does not own: turns and waits (activation.ts),
 * storage and leases (the actor).
 * Invariants:
 *  1. The function is called at most once per WorkflowRun, and not at all once a terminal outcome is stored.
 *  2. The outcome is stored once, in one commit with everything dirty; after it nothing of the function settles.
 *  3. A divergence is not an outcome: it halts the run and changes nothing.
 */
import { encodeValue, own } from "../protocol/index.js";
import { Activation } from "./activation.js";
import { EntryInProgressError, EvictedError, HistoryDivergedError } from "./errors.js";
import { isOfSteps, isStructuralFault } from "./failure.js";
import type { Entry } from "./history/entry.js";
import type { History } from "./history/history.js";
import type { Outcome, WorkflowPorts } from "./ports.js";
import { hasCheckpoint, undo } from "./rollback.js";
import type { OpenBranch } from "./operation.js";
import { Scope } from "./scope.js";
import { afterEffects, type ScopeResult } from "./scope-function.js";

export interface RunOptions {
  readonly ports: WorkflowPorts;
  readonly history: History;
  /** Creates the `ctx` of a scope. */
  readonly createContext: (scope: Scope) => object;
  readonly run: (context: never) => unknown;
  /** The failure of a workflow that was being rolled back when its last activation ended. */
  readonly rollingBack?: unknown;
  /** It is rolled back because it was cancelled, and ends so. */
  readonly cancels?: boolean;
  /** Only replays what is recorded: nothing new begins. */
  readonly replaysOnly?: boolean;
}

const FOREIGN_WAIT_LOG_MS = 10_000;
/** In place of a time: this wait was logged already. */
const LOGGED = -1;

export class WorkflowRun {
  readonly #options: RunOptions;
  #activation: Activation;
  #root: Scope;
  #ended = false;
  /** When a pass first found a scope in user code, by location; epoch ms or `LOGGED`. */
  #foreignSince = new Map<string, number>();

  constructor(options: RunOptions) {
    this.#options = own(options);
    this.#activation = new Activation(options.ports, options.history);
    this.#activation.replaysOnly = this.#options.replaysOnly ?? false;
    this.#root = new Scope(this.#activation, []);
    this.#activation.createContext = options.createContext;
    this.#activation.failRun = (error) => this.#end({ error });
  }

  /** True when nothing can move until a deadline or a message (FLOW-10). */
  get isParked(): boolean {
    return this.#activation.isParked;
  }

  get isPausing(): boolean {
    return this.#activation.attempts.arePaused;
  }

  get isEnded(): boolean {
    return this.#ended || this.#activation.isHalted;
  }

  /** Earliest deadline held in memory, epoch ms: durable waits and the timeouts of running attempts. */
  get nextWaitAt(): number | undefined {
    return this.#activation.waiting.nextAt;
  }

  /** True when an operation waits for a message that has arrived. */
  get wantsMessages(): boolean {
    return this.#activation.waiting.wantsMessages;
  }

  /** See `Activation.takeNow`. */
  takeNow(): boolean {
    return this.#activation.takeNow();
  }

  /** Each branch that has not ended. */
  openBranches(): Iterable<OpenBranch> {
    return this.isEnded ? [] : this.#root.openBranches();
  }

  /** Calls the function, or resumes its rollback. Returns at once. */
  start(): void {
    if (this.#options.rollingBack !== undefined) return this.#undo(this.#options.rollingBack);
    this.#activation.countUserCode(1);
    let returned: unknown;
    try {
      returned = this.#options.run(this.#options.createContext(this.#root) as never);
    } catch (thrown) {
      this.#activation.turn(() => this.#settled({ error: thrown }));
      return;
    }
    Promise.resolve(returned).then(
      (value) => this.#activation.turn(() => this.#settled({ value })),
      (error: unknown) => this.#activation.turn(() => this.#settled({ error })),
    );
  }

  /** See `Activation.advance`. */
  async advance(): Promise<boolean> {
    const isDone = await this.#activation.advance();
    this.#noteForeignWaits();
    return isDone;
  }

  /** Locations where the code runs or awaits something outside the engine. */
  inUserCode(): Iterable<string> {
    return this.#root.inUserCode();
  }

  /** Logs a scope that has long awaited something outside the engine: nothing of it is recorded (FLOW-10). */
  #noteForeignWaits(): void {
    if (this.isEnded) return;
    const { ports } = this.#options;
    const at = ports.now();
    const before = this.#foreignSince;
    this.#foreignSince = new Map();
    for (const location of this.inUserCode()) {
      const since = before.get(location) ?? at;
      this.#foreignSince.set(location, since);
      if (since === LOGGED || at - since < FOREIGN_WAIT_LOG_MS) continue;
      this.#foreignSince.set(location, LOGGED);
      ports.log.debug({
        msg: "A workflow awaits something that is not an operation of its context; it runs again on replay: put it in a step",
        location,
      });
    }
  }

  /** True for a wait that has ended and that no commit has marked yet. */
  hasEnded(entry: Entry): boolean {
    return this.#activation.isFinishedQuietly(entry);
  }

  beforeCommit(): void {
    if (!this.#activation.isHalted) this.#activation.beforeCommit();
  }

  /** The actor is destroyed: open operations reject, then nothing settles. There is no outcome. */
  evict(reason: Error = new EvictedError()): void {
    this.#activation.turn(() => {
      this.#root.evict(reason);
      this.#activation.close();
    }, true);
  }

  /** Steps that wait for their next attempt make it now. Commits that, if there are any. */
  hurry(): void {
    const { ports, waiting } = this.#activation;
    const now = ports.now();
    this.#activation.turn(() => {
      for (const entry of waiting.hurry(now)) {
        entry.dueAt = now;
        this.#activation.put(entry);
        this.#activation.wantCommit();
      }
    });
  }

  /** Completes a step that waits for its next attempt, and commits that. False: it does not wait here. */
  skip(entry: Entry, value: Uint8Array): boolean {
    const wait = this.#activation.waiting.retryOf(entry);
    if (wait) this.#activation.turn(() => wait.skip?.(value));
    return wait !== undefined;
  }

  /** Lets attempts that have begun end, records them, and calls `drained` when there is none left; the run is then over. */
  pause(drained: () => void): void {
    this.#activation.pause(() => {
      this.#root.abandon(new EvictedError("The workflow was paused"));
      drained();
    });
  }

  /** The activation is lost: abort signals fire, and no promise settles again, later calls included. */
  abandon(reason: Error): void {
    this.#activation.halt();
    this.#root.abandon(reason);
  }

  /** The workflow is cancelled: open operations reject, nothing is rolled back. */
  cancel(reason: Error): void {
    this.#activation.turn(() => {
      if (this.#ended) return;
      this.#finish({ status: "cancelled" }, reason);
    }, true);
  }

  #settled(result: ScopeResult): void {
    if (this.#root.isEvicted || afterEffects(this.#root, result, (final) => this.#settled(final))) return;
    const wasInOperation = this.#root.current !== undefined;
    const problem = this.#root.end();
    if (problem instanceof HistoryDivergedError) return this.#activation.diverge(problem);
    if (!wasInOperation) this.#activation.countUserCode(-1);
    this.#end(problem instanceof EntryInProgressError ? { error: problem } : result);
  }

  /** Called inside a turn. */
  #end(result: ScopeResult): void {
    if (this.#ended) return;
    const outcome = toOutcome(result);
    if (outcome.status !== "failed") return this.#finish(outcome);
    this.#options.ports.report({
      workflow: { error: outcome.error, ...(isOfSteps(outcome.error) ? { reported: true } : {}) },
    });
    if (isStructuralFault(outcome.error) || !hasCheckpoint(this.#options.history)) return this.#finish(outcome);
    // The failure and `rolling_back` are one commit; only after it does the rollback replay the function.
    this.#root.evict();
    this.#activation.deleteVacant([]);
    // Not parked: the rollback is work and keeps the lease.
    this.#activation.countWork(1);
    this.#options.ports.rollingBack(outcome.error);
    const { error } = outcome;
    this.#activation.beginWork(() => this.#undo(error));
  }

  #undo(error: unknown): void {
    this.#activation.halt();
    undo(
      this.#options,
      (phase) => {
        this.#activation = phase.activation;
        this.#root = phase.root;
      },
      (rollbackErrors) =>
        this.#finish(
          this.#options.cancels ? { status: "cancelled", rollbackErrors } : { status: "failed", error, rollbackErrors },
        ),
    );
  }

  #finish(outcome: Outcome, reason?: Error): void {
    this.#ended = true;
    this.#root.evict(reason);
    this.#options.ports.finished(outcome);
    this.#activation.close();
  }
}

function toOutcome(result: ScopeResult): Outcome {
  if ("error" in result) return { status: "failed", error: result.error };
  try {
    return { status: "completed", value: encodeValue(result.value) };
  } catch (error) {
    return { status: "failed", error };
  }
}
