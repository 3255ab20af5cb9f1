import { ActorError, decodeValue, encodeValue, decodeForWorkflow, sameBytes } from "../../protocol/index.js";
import type { Entry } from "../history/entry.js";
import { DEFAULT_PRUNE_INTERVAL, MAX_IDLE_ITERATIONS, OPERATIONS_PER_YIELD } from "../limits.js";
import { POSITIVE_COUNT, numberProblem } from "../numbers.js";
import type { Operation } from "../operation.js";
import { Scope } from "../scope.js";
import { runInScope, type ScopeResult } from "../scope-function.js";

const RESULT = Symbol.for("perdure.loop-result");

/** Continues with the next iteration. Made by `Loop.continue`. */
export interface LoopContinue<S> {
  readonly continue: true;
  readonly state: S;
}
/** Ends the loop. Made by `Loop.break`. */
export interface LoopBreak<T> {
  readonly break: true;
  readonly value: T;
}

/** What a loop's callback may return, besides nothing. */
export const Loop = {
  continue: <S>(state: S): LoopContinue<S> => branded({ continue: true, state } as const),
  break: <T = undefined>(value?: T): LoopBreak<T> => branded({ break: true, value: value as T } as const),
};

export interface LoopDefinition {
  readonly name: string;
  readonly state?: unknown;
  readonly run: (context: never, state: never) => unknown;
  /** Iterations between prunes of old ones; default 20. */
  readonly historyPruneInterval?: number;
  /** Finished iterations to keep; default: the interval. */
  readonly historySize?: number;
  readonly commitInterval?: number;
  readonly historyEvery?: number;
  readonly historyKeep?: number;
}

/** A loop's position, rewritten when an iteration ends, with the next commit (FLOW-19). */
interface LoopPosition {
  readonly iteration: number;
  readonly state: Uint8Array;
}

/**
 * `ctx.loop`: iterations, each a scope of its own, until one breaks.
 *
 * Entry: `loop` with the current iteration and its state; completed with the value of the break. Replay: re-enters exactly
 * that iteration. Finished iterations never run again and are pruned, so that the millionth costs what the hundredth does (FLOW-19).
 */
export function loop(scope: Scope, definition: LoopDefinition): Promise<unknown> {
  if (typeof definition?.run !== "function") {
    return Promise.reject(
      new ActorError("workflow", "invalid_loop", `Loop "${definition?.name}" needs a run function`),
    );
  }
  return scope.operate("loop", definition.name, (operation) => {
    // A recorded loop keeps the options it started with, valid or not.
    const problem = operation.entry
      ? undefined
      : numberProblem(`Loop "${definition.name}"`, "invalid_loop", definition, INTERVALS);
    if (problem) operation.reject(problem);
    else new LoopExecution(scope, operation, definition).start();
  });
}

const INTERVALS = {
  historyPruneInterval: POSITIVE_COUNT,
  historySize: POSITIVE_COUNT,
  commitInterval: POSITIVE_COUNT,
  historyEvery: POSITIVE_COUNT,
  historyKeep: POSITIVE_COUNT,
};

class LoopExecution {
  readonly #scope: Scope;
  readonly #operation: Operation;
  readonly #definition: LoopDefinition;
  readonly #entry: Entry;
  readonly #interval: number;
  readonly #kept: number;
  #idle = 0;
  #sinceYield = 0;

  constructor(scope: Scope, operation: Operation, definition: LoopDefinition) {
    this.#scope = scope;
    this.#operation = operation;
    this.#definition = definition;
    this.#entry = operation.entry ?? operation.activation.newEntry("loop", operation.location);
    this.#interval = positive(
      definition.historyPruneInterval ?? definition.commitInterval ?? definition.historyEvery,
      DEFAULT_PRUNE_INTERVAL,
    );
    this.#kept = positive(definition.historySize ?? definition.historyKeep, this.#interval);
  }

  start(): void {
    if (this.#entry.status === "completed") {
      this.#operation.fulfil(this.#entry.value && decodeForWorkflow(this.#entry.value));
      return;
    }
    if (!this.#operation.entry) {
      const state = this.#encode(this.#definition.state);
      if (!state) return;
      this.#entry.data = { iteration: 0, state } satisfies LoopPosition;
      this.#operation.activation.put(this.#entry);
    } else if (!this.#operation.activation.collector) {
      // What was pruned before this start, and is still stored.
      const { iteration } = this.#position;
      this.#prune(iteration - (iteration % this.#interval));
    }
    this.#iterate();
    this.#operation.delegate();
  }

  get #position(): LoopPosition {
    return this.#entry.data as LoopPosition;
  }

  #iterate(): void {
    const { iteration, state } = this.#position;
    const scope = new Scope(this.#operation.activation, [...this.#operation.location, iteration], this.#scope);
    runInScope(
      scope,
      (context) => this.#definition.run(context as never, decodeForWorkflow(state) as never),
      (result) => this.#ended(scope, result),
    );
  }

  #ended(scope: Scope, result: ScopeResult): void {
    if ("error" in result) return this.#operation.reject(result.error);
    // A rollback's replay does not advance the loop (FLOW-21); in that of a recorded run nothing is recorded beyond this.
    if (this.#operation.activation.stopsAtEnd) return;
    const { iteration, state } = this.#position;
    const returned = result.value;
    if (isBreak(returned)) return this.#break(iteration, returned.value);
    const isHandMade =
      typeof returned === "object" &&
      returned !== null &&
      !isContinue(returned) &&
      (Object.hasOwn(returned, "continue") || Object.hasOwn(returned, "break"));
    if (isHandMade || (returned !== undefined && (typeof returned !== "object" || returned === null))) {
      const message =
        `Loop "${this.#definition.name}" returned ` +
        `${isHandMade ? "a result not made by Loop" : String(returned)}; return nothing, ` +
        "Loop.continue(state) or Loop.break(value)";
      return this.#operation.reject(new ActorError("workflow", "invalid_loop", message));
    }
    let next: Uint8Array | undefined = state;
    if (isContinue(returned)) {
      next = this.#encode(returned.state);
      if (!next) return;
    } else if (returned === undefined && decodeValue(state) !== undefined) {
      const message =
        `Loop "${this.#definition.name}" returned undefined for a stateful iteration; return ` +
        "Loop.continue(state) or Loop.break(value)";
      return this.#operation.reject(new ActorError("workflow", "loop_state_missing", message));
    }
    this.#entry.data = { iteration: iteration + 1, state: next } satisfies LoopPosition;
    this.#operation.activation.put(this.#entry);
    if ((iteration + 1) % this.#interval === 0) this.#prune(iteration + 1);
    if (scope.operationsStarted > 0) {
      this.#idle = 0;
      return this.#iterate();
    }
    // A changing state is progress (a scan, say); an unchanged one never ends.
    this.#idle = sameBytes(next, state) ? this.#idle + 1 : 0;
    this.#idleIteration();
  }

  /** Iterations without an operation would starve every other event of the object: yields now and then, fails in the end. */
  #idleIteration(): void {
    if (this.#idle >= MAX_IDLE_ITERATIONS) {
      const message =
        `Loop "${this.#definition.name}" ran ${MAX_IDLE_ITERATIONS} iterations in a row without an operation ` +
        "or a change of its state";
      return this.#operation.reject(new ActorError("workflow", "idle_loop", message));
    }
    this.#sinceYield += 1;
    if (this.#sinceYield < OPERATIONS_PER_YIELD) return this.#iterate();
    this.#sinceYield = 0;
    this.#operation.activation.yield(() => {
      if (!this.#operation.isSettled) this.#iterate();
    });
  }

  #break(iteration: number, value: unknown): void {
    const bytes = this.#encode(value);
    if (!bytes) return;
    this.#prune(iteration + 1);
    this.#operation.activation.deleteVacant(this.#operation.location);
    // Without the state, which nothing needs any more.
    this.#entry.data = { iteration };
    this.#operation.activation.complete(this.#entry, bytes);
    this.#operation.fulfil(decodeForWorkflow(bytes));
  }

  /** Removes finished iterations beyond those to keep. Deletes what the last prune removed and nothing has overwritten. */
  #prune(iteration: number): void {
    const { activation, location } = this.#operation;
    activation.deleteVacant(location);
    for (const name of activation.history.namesBelow(location)) {
      if (typeof name === "number" && name < iteration - this.#kept) activation.prune([...location, name]);
    }
  }

  #encode(value: unknown): Uint8Array | undefined {
    try {
      return encodeValue(value, { what: `state of loop "${this.#definition.name}"` });
    } catch (error) {
      this.#operation.reject(error);
      return undefined;
    }
  }
}

function branded<T extends object>(result: T): T {
  Object.defineProperty(result, RESULT, { value: true });
  return result;
}

function isBreak(value: unknown): value is LoopBreak<unknown> {
  return isResult(value) && Object.hasOwn(value, "break");
}

function isContinue(value: unknown): value is LoopContinue<unknown> {
  return isResult(value) && Object.hasOwn(value, "continue");
}

function isResult(value: unknown): value is object {
  return typeof value === "object" && value !== null && RESULT in value;
}

function positive(value: number | undefined, fallback: number): number {
  return value !== undefined && Number.isInteger(value) && value > 0 ? value : fallback;
}
