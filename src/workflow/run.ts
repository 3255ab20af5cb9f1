/**
 * One workflow function, run from its first line for one activation.
 *
 * Owns: the root scope, the start and the end of the function, the undoing of a failed one. Does not own: the
 * bookkeeping of turns and waits (activation.ts), storage and leases (the actor).
 * Invariants:
 *  1. The function is called at most once per WorkflowRun, and not at all after a terminal outcome was stored.
 *  2. The outcome is stored once, in one commit with all that is dirty; then nothing of the function settles any more.
 *  3. A divergence is no outcome: it halts the run and changes nothing.
 */
import { encodeValue, own } from "../protocol/index.js";
import { Activation } from "./activation.js";
import { EntryInProgressError, EvictedError, HistoryDivergedError } from "./errors.js";
import { isOfSteps, isStructuralFault } from "./failure.js";
import type { Entry } from "./history/entry.js";
import type { History } from "./history/history.js";
import type { Outcome, WorkflowPorts } from "./ports.js";
import { hasCheckpoint, undo } from "./rollback.js";
import { Scope } from "./scope.js";
import { afterEffects, type ScopeResult } from "./scope-function.js";

export interface RunOptions {
  readonly ports: WorkflowPorts;
  readonly history: History;
  /** Builds the context that user code gets for a scope. */
  readonly createContext: (scope: Scope) => object;
  readonly run: (context: never) => unknown;
  /** The failure of a workflow that was being undone when its last activation ended. */
  readonly rollingBack?: unknown;
}

const FOREIGN_WAIT_LOG_MS = 10_000;
/** Instead of a time: this wait was named already. */
const TOLD = -1;

export class WorkflowRun {
  readonly #options: RunOptions;
  #activation: Activation;
  #root: Scope;
  #ended = false;
  /** Since when scopes have been in user code, by location; epoch ms, as far as passes have seen it. */
  #foreignSince = new Map<string, number>();

  constructor(options: RunOptions) {
    this.#options = own(options);
    this.#activation = new Activation(options.ports, options.history);
    this.#root = new Scope(this.#activation, []);
    this.#activation.createContext = options.createContext;
    this.#activation.failRun = (error) => this.#end({ error });
  }

  /** True when nothing can move until a deadline or a message (FLOW-10). */
  get isParked(): boolean {
    return this.#activation.isParked;
  }

  get isEnded(): boolean {
    return this.#ended || this.#activation.isHalted;
  }

  /** Earliest deadline held in memory, epoch ms: durable waits and the timeouts of running attempts. */
  get nextWaitAt(): number | undefined {
    return this.#activation.nextWaitAt;
  }

  /** True when an operation waits for a message that is there. */
  get wantsMessages(): boolean {
    return this.#activation.wantsMessages;
  }

  /** Where each branch that has not ended is. */
  openBranches(): Iterable<string> {
    return this.isEnded ? [] : this.#root.openBranches();
  }

  /** Calls the function, or goes on undoing what it did. Returns at once. */
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

  /** See Activation.advance. */
  async advance(): Promise<boolean> {
    const isDone = await this.#activation.advance();
    this.#noteForeignWaits();
    return isDone;
  }

  /** Names a scope that has waited for long for something that is not the engine's: nothing of it is recorded (FLOW-10). */
  #noteForeignWaits(): void {
    if (this.isEnded) return;
    const { ports } = this.#options;
    const at = ports.now();
    const before = this.#foreignSince;
    this.#foreignSince = new Map();
    for (const location of this.#root.inUserCode()) {
      const since = before.get(location) ?? at;
      this.#foreignSince.set(location, since);
      if (since === TOLD || at - since < FOREIGN_WAIT_LOG_MS) continue;
      this.#foreignSince.set(location, TOLD);
      ports.log.debug({
        msg: "A workflow waits for something that is no operation of its context; it runs again on replay, put it in a step",
        location,
      });
    }
  }

  /** True for a wait that is over and that no commit has marked yet. */
  hasEnded(entry: Entry): boolean {
    return this.#activation.isFinishedQuietly(entry);
  }

  beforeCommit(): void {
    if (!this.#activation.isHalted) this.#activation.beforeCommit();
  }

  /** The actor is destroyed: what is open rejects, then nothing settles any more. There is no outcome. */
  evict(reason: Error = new EvictedError()): void {
    this.#activation.turn(() => {
      this.#root.evict(reason);
      this.#activation.close();
    });
  }

  /** The activation is lost: signals fire, nothing settles, and whatever its code still calls never answers. */
  abandon(reason: Error): void {
    this.#activation.halt();
    this.#root.abandon(reason);
  }

  /** The workflow is cancelled: what is open rejects, nothing is undone. */
  cancel(reason: Error): void {
    this.#activation.turn(() => {
      if (this.#ended) return;
      this.#finish({ status: "cancelled" }, reason);
    });
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
    // The failure and `rolling_back` are one commit; only then is the function replayed to find what must be undone.
    this.#root.evict();
    // Not parked: the undoing is work, and the lease stays for it.
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
      (rollbackErrors) => this.#finish({ status: "failed", error, rollbackErrors }),
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
