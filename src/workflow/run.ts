/**
 * One workflow function, run from its first line for one activation.
 *
 * Owns: the root scope, the start and the end of the function. Does not own: the bookkeeping of turns and waits
 * (activation.ts), storage and leases (the actor).
 * Invariants:
 *  1. The function is called at most once per WorkflowRun, and not at all after a terminal outcome was stored.
 *  2. The outcome is stored once, in one commit with all that is dirty; then nothing of the function settles any more.
 *  3. A divergence is no outcome: it halts the run and changes nothing.
 */
import { encodeValue } from "../protocol/index.js";
import { Activation } from "./activation.js";
import { EvictedError, HistoryDivergedError } from "./errors.js";
import type { History } from "./history/history.js";
import type { Outcome, WorkflowPorts } from "./ports.js";
import { Scope } from "./scope.js";

export interface RunOptions {
  readonly ports: WorkflowPorts;
  readonly history: History;
  /** Builds the context that user code gets for a scope. */
  readonly createContext: (scope: Scope) => object;
  readonly run: (context: never) => unknown;
}

export class WorkflowRun {
  readonly #activation: Activation;
  readonly #root: Scope;
  readonly #options: RunOptions;
  #ended = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#activation = new Activation(options.ports, options.history);
    this.#root = new Scope(this.#activation, []);
    this.#activation.failRun = (error) => this.#end({ error });
  }

  /** True when nothing can move until a deadline or a message (W14). */
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

  /** Calls the function. Returns at once; resolves nothing. */
  start(): void {
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
  advance(): Promise<boolean> {
    return this.#activation.advance();
  }

  /** Resolves when the run is parked, or only waits for running work. */
  settled(): Promise<void> {
    return this.#activation.settled();
  }

  beforeCommit(): void {
    if (!this.#activation.isHalted) this.#activation.beforeCommit();
  }

  /** Stops the run where it stands, with no outcome: its activation is over, or its actor is destroyed. */
  evict(reason: Error = new EvictedError()): void {
    this.#activation.halt();
    this.#root.evict(reason);
  }

  #settled(result: { value: unknown } | { error: unknown }): void {
    if (this.#ended) return;
    const problem = this.#root.end();
    if (problem instanceof HistoryDivergedError && "value" in result) {
      this.#activation.diverge(problem);
      return;
    }
    this.#end(problem && !(problem instanceof HistoryDivergedError) ? { error: problem } : result);
  }

  /** Called inside a turn. */
  #end(result: { value: unknown } | { error: unknown }): void {
    if (this.#ended) return;
    this.#ended = true;
    const outcome = toOutcome(result);
    if (outcome.status === "failed") this.#options.ports.report({ workflow: { error: outcome.error } });
    this.#options.ports.finished(outcome);
    this.#activation.close(() => this.#root.evict());
  }
}

function toOutcome(result: { value: unknown } | { error: unknown }): Outcome {
  if ("error" in result) return { status: "failed", error: result.error };
  try {
    return { status: "completed", value: encodeValue(result.value) };
  } catch (error) {
    return { status: "failed", error };
  }
}
