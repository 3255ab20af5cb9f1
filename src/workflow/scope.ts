import { ActorError, Effects } from "../protocol/index.js";
import type { Activation } from "./activation.js";
import { EntryInProgressError, EvictedError, HistoryDivergedError } from "./errors.js";
import { isTerminal, type EntryKind } from "./history/entry.js";
import type { RecordedOperation } from "./history/history.js";
import { formatLocation, type Location } from "./history/location.js";
import { MAX_REFUSALS, nameProblem } from "./limits.js";
import { Operation, type OperationScope } from "./operation.js";

/** What the code may begin anywhere: these have no order, and record nothing in a look at what was done. */
const UNORDERED: ReadonlySet<string> = new Set(["removed", "version_check"]);

/** What `recover` starts over, and whose result is written once, before anything behind it is recorded. */
const RESULTS: ReadonlySet<string> = new Set(["step", "join", "race"]);

/**
 * One place where user code runs and names are unique: the root, an iteration, a branch, a try block.
 *
 * Owns: which operation is in flight (FLOW-11), which names were used, which recorded operations the code has still to meet.
 */
export class Scope implements OperationScope {
  readonly activation: Activation;
  readonly location: Location;
  readonly parent: Scope | undefined;
  readonly #abort = new AbortController();
  readonly #used = new Map<string, EntryKind | "try">();
  readonly #receives = new Map<string, number>();
  readonly #isTryBlock: boolean;
  /** The next one last. */
  readonly #unmet: RecordedOperation[];
  #current: Operation | undefined;
  #misuse: EntryInProgressError | undefined;
  #ended: Error | undefined;
  #evicted = false;
  /** Its code has come to an operation that diverged, and never goes on. */
  #isStuck = false;
  #refusals = 0;
  #hasCheckpoint = false;
  /**
   * The counter when the latest operation here, or in a try block here, had its result; what is recorded behind has
   * higher ones, unless it started over since.
   */
  #resultAt = 0;
  #operations = 0;
  #effects: Effects | undefined;
  readonly #children = new Set<Scope>();

  /** `isTryBlock`: its operations stand in the order of the scope around it. */
  constructor(activation: Activation, location: Location, parent?: Scope, isTryBlock = false) {
    this.#isTryBlock = isTryBlock;
    this.activation = activation;
    this.location = location;
    this.parent = parent;
    this.#unmet = activation.history.operationsOf(location).reverse();
    if (!parent) return;
    parent.#children.add(this);
  }

  /** Aborted when the scope is over before its code is: a lost race, a cancelled or destroyed run. */
  get abortSignal(): AbortSignal {
    return this.#abort.signal;
  }

  get isEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** The operation in flight. */
  get current(): Operation | undefined {
    return this.#current;
  }

  /** True once a lost race, or the end of the run, has ended it from outside. */
  get isEvicted(): boolean {
    return this.#evicted;
  }

  /** What the code has begun here beside its operations: completions of messages. */
  get effects(): Effects {
    return (this.#effects ??= new Effects());
  }

  /** True while the code does again what it has done before: an earlier activation came as far, or further. */
  get isReplaying(): boolean {
    return this.activation.isReplaying || this.#unmet.some(({ isOrdered }) => isOrdered);
  }

  /** How many operations the code has started here. */
  get operationsStarted(): number {
    return this.#operations;
  }

  /** A rollback checkpoint stands in this scope or one around it. */
  get hasCheckpoint(): boolean {
    return this.#hasCheckpoint || (this.parent?.hasCheckpoint ?? false);
  }

  setCheckpoint(): void {
    this.#hasCheckpoint = true;
  }

  /** Starts an operation; `start` runs inside a turn. Rejects for misuse; never settles for the scope's own code when the run is halted. */
  operate(
    kind: EntryKind | "try",
    name: string,
    start: (operation: Operation) => void,
    /** For `removed`: the kind that the entry may have had. */
    originalKind?: EntryKind | "try",
  ): Promise<unknown> {
    if (this.activation.isHalted && !this.#ended) return this.#afterHalt(name);
    const refused = this.#refusal(name);
    if (refused) return this.#refuse(refused);
    const ordinal = kind === "message" ? (this.#receives.get(name) ?? 0) : 0;
    const problem = this.#meet(kind, name, ordinal, originalKind);
    if (problem) {
      this.activation.diverge(problem);
      this.#isStuck = true;
      return new Promise(() => {});
    }
    this.#used.set(name, kind);
    if (kind === "message") this.#receives.set(name, ordinal + 1);
    const location = ordinal === 0 ? [...this.location, name] : [...this.location, name, ordinal];
    const entry = this.activation.history.find(location);
    const operation = new Operation(this, name, location, entry);
    this.#current = operation;
    this.#operations += 1;
    this.activation.turn(() => {
      this.activation.countUserCode(-1);
      this.activation.countWork(1);
      // A look at what was done meets nothing new: such an operation ends its scope there (FLOW-21).
      if (this.activation.collector && !entry && kind !== "try" && !UNORDERED.has(kind)) operation.park();
      else start(operation);
    });
    operation.started();
    return operation.promise;
  }

  /** The operation in flight is over. False: it was misused meanwhile, and the workflow fails instead of going on. */
  left(operation: Operation): boolean {
    if (this.#current === operation) this.#current = undefined;
    const entry = this.activation.history.find(operation.location);
    if (entry && RESULTS.has(entry.kind) && isTerminal(entry)) this.#resultAt = Math.max(this.#resultAt, entry.rev);
    if (this.#misuse === undefined) return true;
    this.activation.failRun(this.#misuse);
    return false;
  }

  /** A step ended with this misuse, of whichever scope: it is that step's failure and nothing else (FLOW-11). */
  claimMisuse(thrown: unknown): boolean {
    const scope = typeof thrown === "object" && thrown !== null ? misused.get(thrown) : undefined;
    if (scope && scope.#misuse === thrown) scope.#misuse = undefined;
    return scope !== undefined;
  }

  /**
   * The scope's function has settled. Gives back what is wrong with that: an operation still open, or recorded
   * operations that the code did not meet.
   */
  end(): EntryInProgressError | HistoryDivergedError | undefined {
    if (this.#ended) return undefined;
    const open = this.#current;
    const misuse = this.#misuse;
    this.#ended = new EntryInProgressError(
      `The scope ${formatLocation(this.location)} has ended; its context cannot be used any more`,
    );
    this.#detach();
    if (misuse) return misuse;
    if (open) {
      return new EntryInProgressError(
        `The function of ${formatLocation(this.location)} ended while its operation "${open.name}" was open: is an await missing?`,
      );
    }
    if (this.#isTryBlock && this.parent) this.parent.#resultAt = Math.max(this.parent.#resultAt, this.#resultAt);
    const unmet = this.#nextUnmet(this.#resultAt);
    if (!unmet) return undefined;
    return new HistoryDivergedError(
      `The history holds ${unmet.kind} "${unmet.name}" in ${formatLocation(this.location)}, but the code ` +
        `ended without it. Put it back, or replace it by ctx.removed("${unmet.name}", "${unmet.kind}")`,
      {
        location: formatLocation(this.location),
        found: `${unmet.kind} "${unmet.name}"`,
        expected: "the end of the scope",
      },
    );
  }

  /**
   * Ends the scope, and every scope in it, from outside: signals fire, the operations in flight reject, later ones
   * too, and none of it counts as busy any more. Called inside a turn.
   */
  evict(reason: Error = new EvictedError()): void {
    if (this.#evicted) return;
    for (const child of this.#children) child.evict(reason);
    const wasInUserCode = !this.#ended && !this.#current;
    this.#ended = reason;
    this.#evicted = true;
    this.#misuse = undefined;
    this.#detach();
    if (wasInUserCode) this.activation.countUserCode(-1);
    const open = this.#current;
    this.#current = undefined;
    open?.evict(reason);
    this.#abort.abort(reason);
  }

  /** The activation is lost: only the signals fire, so that running work may stop. */
  abandon(reason: Error): void {
    for (const child of this.#children) child.abandon(reason);
    this.#abort.abort(reason);
  }

  /** Where each branch is that has not ended: at its operation, or in code of the user's. */
  *openBranches(): IterableIterator<string> {
    for (const child of this.#children) yield* child.openBranches();
    if (this.#children.size === 0 && !this.#ended) yield formatLocation(this.#current?.location ?? this.location);
  }

  /** Where user code runs, or awaits what is not the engine's: this scope and those in it. */
  *inUserCode(): IterableIterator<string> {
    if (!this.#ended && !this.#current) yield formatLocation(this.location);
    for (const child of this.#children) yield* child.inUserCode();
  }

  /**
   * True while something recorded before this activation has not been met yet: this scope is an old one.
   * A try block, which has no entry of its own, is as old as the scope around it.
   */
  hasUnmet(): boolean {
    return this.#unmet.length > 0 || (this.#isTryBlock && (this.parent?.hasUnmet() ?? false));
  }

  /**
   * True if a release that counted gates in the order of a scope recorded one after this entry, and the code has not met it
   * yet: it stands behind. (One that was deployed in front of the entry is met by now.)
   */
  hasOldGateBehind(seq: number): boolean {
    return (
      this.#unmet.some((operation) => operation.endsOldWaits && operation.seq > seq) ||
      (this.#isTryBlock && (this.parent?.hasOldGateBehind(seq) ?? false))
    );
  }

  /**
   * What the code must meet next. `resultAt`: what was recorded before something in front of it had its result is left out:
   * that has started over since (`recover`), may end otherwise now, and the code go another way than the history.
   */
  #nextUnmet(resultAt: number): RecordedOperation | undefined {
    return this.#unmet.findLast((operation) => operation.isOrdered && operation.seq > resultAt);
  }

  /** What is recorded after the try block that this scope is: nothing new may come before it. */
  #nextUnmetAround(resultAt: number): RecordedOperation | undefined {
    if (!this.#isTryBlock || !this.parent) return undefined;
    const after = Math.max(resultAt, this.parent.#resultAt);
    return this.parent.#nextUnmet(after) ?? this.parent.#nextUnmetAround(after);
  }

  /** The code goes another way than before something started over: what it had recorded there makes room, up to what it meets now. */
  #leaveBehind(before: number): void {
    const end = Math.min(before, this.#resultAt);
    for (let at = this.#unmet.length - 1; at >= 0; at -= 1) {
      const operation = this.#unmet[at];
      if (!operation || operation.seq >= end) return;
      if (!operation.isOrdered) continue;
      this.#unmet.splice(at, 1);
      // A look at what was done changes nothing.
      const { name, ordinal } = operation;
      if (!this.activation.collector)
        this.activation.deleteTree(ordinal === 0 ? [...this.location, name] : [...this.location, name, ordinal], true);
    }
  }

  #detach(): void {
    this.#effects?.close();
    if (this.parent) this.parent.#children.delete(this);
  }

  /** Code that goes on whatever its operations say gets no answer any more at some time: it would never let others run. */
  #refuse(error: Error): Promise<never> {
    this.#refusals += 1;
    return this.#refusals > MAX_REFUSALS ? new Promise(() => {}) : rejected(error);
  }

  /**
   * The activation is over. The scope's own code must not go on, not even to a `catch`: it gets no answer. While it awaits an
   * operation that never settles, whoever calls is somebody else, another actor that has kept this context, and is told.
   */
  #afterHalt(name: string): Promise<never> {
    if (!this.#current && !this.#isStuck) return new Promise(() => {});
    return this.#refuse(
      new EvictedError(
        `"${name}" was started in ${formatLocation(this.location)} of a workflow that is not in memory any more`,
      ),
    );
  }

  #refusal(name: string): Error | undefined {
    if (this.#ended) return this.#evicted ? this.#ended : this.#refusalAfterEnd(this.#ended);
    const problem = nameProblem(name);
    if (problem !== undefined)
      return new ActorError("workflow", "invalid_name", `This operation has no legal name: ${problem}`);
    if (!this.#current) return undefined;
    return this.#noteMisuse(
      `"${name}" was started in ${formatLocation(this.location)} while "${this.#current.name}" was still ` +
        "in flight: await each operation, use ctx.join to run several at once, and the innermost context " +
        "inside callbacks",
    );
  }

  /** Use of a scope that has ended is a misuse of the innermost one around it that has not. */
  #refusalAfterEnd(ended: Error): Error {
    for (let around = this.parent; around; around = around.parent) {
      if (around.#evicted) return new EvictedError();
      if (!around.#ended) return around.#noteMisuse(ended.message);
    }
    return ended;
  }

  #noteMisuse(message: string): EntryInProgressError {
    this.#misuse ??= new EntryInProgressError(message);
    const misuse = this.#misuse;
    misused.set(misuse, this);
    // A running callback may claim it as its own failure; nothing else can, so it fails the workflow at once.
    if (!this.#current?.mayRunUserCode) this.activation.turn(() => this.activation.failRun(misuse));
    return misuse;
  }

  /** A removed receive stands for all of its name. */
  #forgetRepeated(name: string): void {
    for (let at = this.#unmet.length - 1; at >= 0; at -= 1)
      if (this.#unmet[at]?.name === name) this.#unmet.splice(at, 1);
  }

  /** Checks the next operation against what is recorded, in order, by name and kind. */
  #meet(
    kind: EntryKind | "try",
    name: string,
    ordinal: number,
    originalKind: EntryKind | "try" | undefined,
  ): HistoryDivergedError | undefined {
    const at = formatLocation([...this.location, name]);
    const used = this.#used.get(name);
    if (used !== undefined && !(used === "message" && kind === "message")) {
      return new HistoryDivergedError(`Duplicate entry name "${name}" at ${at}: names are unique in their scope`, {
        location: at,
        found: `${used} "${name}"`,
        expected: "a name not used before in this scope",
        code: "duplicate_name",
      });
    }
    const isNew = !UNORDERED.has(kind) && kind !== "try";
    if (this.#resultAt > 0 && isNew)
      this.#leaveBehind(
        this.#unmet.findLast((operation) => operation.name === name && operation.ordinal === ordinal)?.seq ??
          Number.POSITIVE_INFINITY,
      );
    const index = this.#unmet.findLastIndex((operation) => operation.name === name && operation.ordinal === ordinal);
    const first = this.#unmet.findLastIndex((operation) => operation.isOrdered);
    const recorded = this.#unmet[index];
    const next = this.#unmet[first];
    const fits = recorded && (recorded.kind === kind || (kind === "removed" && recorded.kind === originalKind));
    if (fits && (index === first || !recorded.isOrdered || UNORDERED.has(kind))) {
      // Gates that were recorded before what the code has now come to, and that it has not met, are no part of it any more.
      this.#unmet.splice(index, index === first ? Number.POSITIVE_INFINITY : 1);
      if (kind === "removed") this.#forgetRepeated(name);
      return undefined;
    }
    if (recorded && !fits) {
      return new HistoryDivergedError(`Expected ${kind} "${name}" at ${at}, found ${recorded.kind}`, {
        location: at,
        found: `${recorded.kind} "${recorded.name}"`,
        expected: `${kind} "${name}"`,
      });
    }
    // A try block has no entry of its own: one that recorded nothing cannot be told from a new one, its operations can.
    if (!recorded && (UNORDERED.has(kind) || kind === "try")) return undefined;
    const expected = next ?? this.#nextUnmetAround(this.#resultAt);
    if (recorded || expected) return outOfOrder(at, kind, name, expected);
    this.#unmet.length = 0;
    return undefined;
  }
}

/** Which scope a misuse was of. */
const misused = new WeakMap<object, Scope>();

function outOfOrder(at: string, kind: string, name: string, next: RecordedOperation | undefined): HistoryDivergedError {
  const found = next ? `${next.kind} "${next.name}"` : "nothing";
  return new HistoryDivergedError(
    `The code called ${kind} "${name}" at ${at}, but the history has ${found} next: operations must keep ` +
      "their recorded order; use ctx.removed or ctx.getVersion to change running workflows",
    { location: at, found, expected: `${kind} "${name}"` },
  );
}

function rejected(error: Error): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => {});
  return promise;
}
