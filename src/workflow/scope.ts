import { ActorError, Effects } from "../protocol/index.js";
import { Abort } from "./abort.js";
import type { Activation } from "./activation.js";
import { EntryInProgressError, EvictedError, HistoryDivergedError, outOfOrder } from "./errors.js";
import { isTerminal, type EntryKind } from "./history/entry.js";
import type { RecordedOperation } from "./history/history.js";
import { formatLocation, type Location } from "./history/location.js";
import { MAX_REFUSALS, nameProblem } from "./limits.js";
import { Operation, type OpenBranch, type OperationScope } from "./operation.js";

/** Operations that the code may call anywhere: they have no order, and record nothing during a rollback's replay. */
const UNORDERED: ReadonlySet<string> = new Set(["removed", "version_check"]);

/** Operations that `recover` can start over; their result is written once, before anything after them is recorded. */
const RESULTS: ReadonlySet<string> = new Set(["step", "join", "race"]);

/**
 * One place where user code runs and names are unique: the root, an iteration, a branch, a try block.
 *
 * Owns: which operation is in flight (FLOW-11), which names are used, which recorded operations the code must still meet.
 */
export class Scope implements OperationScope {
  readonly activation: Activation;
  readonly location: Location;
  readonly parent: Scope | undefined;
  /** Aborted when the scope ends before its code does: a lost race, a cancelled or destroyed run. */
  readonly abort = new Abort();
  readonly #used = new Map<string, EntryKind | "try">();
  readonly #receives = new Map<string, number>();
  readonly #isTryBlock: boolean;
  /** Recorded operations that the code has not met yet; the next one is last. */
  readonly #unmet: RecordedOperation[];
  #current: Operation | undefined;
  #misuse: EntryInProgressError | undefined;
  #isEnded = false;
  /** Why it was ended from outside. */
  #evictedFor: Error | undefined;
  /** The code called an operation that diverged, and never continues. */
  #isStuck = false;
  #refusals = 0;
  #hasCheckpoint = false;
  /**
   * The counter at the latest result of an operation here, or in a try block here. Operations recorded later have a higher
   * one, unless the operation with the result has started over since.
   */
  #resultAt = 0;
  #operations = 0;
  #effects: Effects | undefined;
  readonly #children = new Set<Scope>();

  /** `isTryBlock`: its operations belong to the order of the parent scope. */
  constructor(activation: Activation, location: Location, parent?: Scope, isTryBlock = false) {
    this.#isTryBlock = isTryBlock;
    this.activation = activation;
    this.location = location;
    this.parent = parent;
    this.#unmet = activation.history.operationsOf(location).reverse();
    if (!parent) return;
    parent.#children.add(this);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The operation in flight. */
  get current(): Operation | undefined {
    return this.#current;
  }

  /** True once a lost race or the end of the run has ended the scope from outside. */
  get isEvicted(): boolean {
    return this.#evictedFor !== undefined;
  }

  /** What the code started here besides operations: completions of messages. */
  get effects(): Effects {
    return (this.#effects ??= new Effects());
  }

  /** As `effects.settled()`. */
  effectsSettled(): Promise<void> | undefined {
    return this.#effects?.settled();
  }

  /** True while the code repeats what an earlier activation already did. */
  get isReplaying(): boolean {
    return this.activation.isReplaying || this.#unmet.some(({ isOrdered }) => isOrdered);
  }

  /** The number of operations that the code has started here. */
  get operationsStarted(): number {
    return this.#operations;
  }

  /** True if this scope or one around it has a rollback checkpoint. */
  get hasCheckpoint(): boolean {
    return this.#hasCheckpoint || (this.parent?.hasCheckpoint ?? false);
  }

  setCheckpoint(): void {
    this.#hasCheckpoint = true;
  }

  /** Starts an operation; `start` runs inside a turn. Rejects for misuse. Never settles for the scope's own code in a halted run. */
  operate(
    kind: EntryKind | "try",
    name: string,
    start: (operation: Operation) => void,
    /** For `removed`: the kind that the entry may have. */
    originalKind?: EntryKind | "try",
  ): Promise<unknown> {
    if (this.activation.isStopped && !this.#isEnded) return this.#afterHalt(name);
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
    const operation = new Operation(this, kind, name, location, entry);
    this.#current = operation;
    this.#operations += 1;
    operation.begin(() => {
      // A rollback's replay stops at the first operation that is not recorded (FLOW-21), and so does one of a recorded run.
      if (this.activation.stopsAtEnd && !entry && kind !== "try" && !UNORDERED.has(kind)) operation.park();
      else start(operation);
    });
    operation.started();
    return operation.promise;
  }

  /** Ends the operation in flight. False: the scope was misused meanwhile, and the workflow fails instead of continuing. */
  endOperation(operation: Operation): boolean {
    if (this.#current === operation) this.#current = undefined;
    const entry = this.activation.history.find(operation.location);
    if (entry && RESULTS.has(entry.kind) && isTerminal(entry)) this.#resultAt = Math.max(this.#resultAt, entry.rev);
    if (this.#misuse === undefined) return true;
    this.activation.failRun(this.#misuse);
    return false;
  }

  /** True if a step threw the misuse of some scope: it then counts as that step's failure only (FLOW-11). */
  claimMisuse(thrown: unknown): boolean {
    const scope = typeof thrown === "object" && thrown !== null ? misused.get(thrown) : undefined;
    if (scope && scope.#misuse === thrown) scope.#misuse = undefined;
    return scope !== undefined;
  }

  /**
   * Ends the scope when its function has settled. Returns an error if an operation is still open, or if the code did not
   * meet all recorded operations.
   */
  end(): EntryInProgressError | HistoryDivergedError | undefined {
    if (this.#isEnded) return undefined;
    const open = this.#current;
    const misuse = this.#misuse;
    this.#isEnded = true;
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
   * Ends the scope and every scope in it from outside: abort signals fire, operations in flight and later ones reject, and
   * nothing in it counts as busy. Called inside a turn.
   */
  evict(reason: Error = new EvictedError()): void {
    if (this.#evictedFor) return;
    for (const child of this.#children) child.evict(reason);
    const wasInUserCode = !this.#isEnded && !this.#current;
    this.#isEnded = true;
    this.#evictedFor = reason;
    this.#misuse = undefined;
    this.#detach();
    if (wasInUserCode) this.activation.countUserCode(-1);
    const open = this.#current;
    this.#current = undefined;
    open?.evict(reason);
    this.abort.abort(reason);
  }

  /** The activation is lost: only abort signals fire, so that running work can stop. */
  abandon(reason: Error): void {
    for (const child of this.#children) child.abandon(reason);
    this.abort.abort(reason);
  }

  /** Each branch that has not ended. */
  *openBranches(): IterableIterator<OpenBranch> {
    for (const child of this.#children) yield* child.openBranches();
    if (this.#children.size > 0 || this.#isEnded) return;
    yield this.#current?.asBranch ?? { location: this.location };
  }

  /** Locations, of this scope and those in it, where user code runs or awaits something outside the engine. */
  *inUserCode(): IterableIterator<string> {
    if (!this.#isEnded && !this.#current) yield formatLocation(this.location);
    for (const child of this.#children) yield* child.inUserCode();
  }

  /**
   * True while something recorded by an earlier activation has not been met yet. A try block has no entry of its own and
   * asks its parent too.
   */
  hasUnmet(): boolean {
    return this.#unmet.length > 0 || (this.#isTryBlock && (this.parent?.hasUnmet() ?? false));
  }

  /**
   * True if a release that gave version gates a place in the order recorded one after this entry. (The code has already met a
   * gate that was deployed before the entry.)
   */
  hasOldGateBehind(seq: number): boolean {
    return (
      this.#unmet.some((operation) => operation.endsOldWaits && operation.seq > seq) ||
      (this.#isTryBlock && (this.parent?.hasOldGateBehind(seq) ?? false))
    );
  }

  /**
   * The recorded operation that the code must meet next. Skips those recorded before `resultAt`: an operation before them
   * started over (`recover`) and may have a different result, so that the code may take another path.
   */
  #nextUnmet(resultAt: number): RecordedOperation | undefined {
    return this.#unmet.findLast((operation) => operation.isOrdered && operation.seq > resultAt);
  }

  /** The operation recorded after this try block: nothing new may come before it. */
  #nextUnmetAround(resultAt: number): RecordedOperation | undefined {
    if (!this.#isTryBlock || !this.parent) return undefined;
    const after = Math.max(resultAt, this.parent.#resultAt);
    return this.parent.#nextUnmet(after) ?? this.parent.#nextUnmetAround(after);
  }

  /** After something started over, the code took another path: deletes what the old path recorded, up to what it meets now. */
  #leaveBehind(before: number): void {
    const end = Math.min(before, this.#resultAt);
    for (let at = this.#unmet.length - 1; at >= 0; at -= 1) {
      const operation = this.#unmet[at];
      if (!operation || operation.seq >= end) return;
      if (!operation.isOrdered) continue;
      this.#unmet.splice(at, 1);
      // A rollback's replay changes nothing.
      const { name, ordinal } = operation;
      if (!this.activation.collector)
        this.activation.deleteTree(ordinal === 0 ? [...this.location, name] : [...this.location, name, ordinal], true);
    }
  }

  #detach(): void {
    this.#effects?.close();
    if (this.parent) this.parent.#children.delete(this);
  }

  /** Code that ignores rejections stops getting answers at some point: it would starve all other events. */
  #refuse(error: Error): Promise<never> {
    this.#refusals += 1;
    if (this.#refusals > MAX_REFUSALS) return new Promise(() => {});
    const refused = Promise.reject<never>(error);
    refused.catch(() => {});
    return refused;
  }

  /**
   * The activation is over. The scope's own code must not continue, not even in a `catch`: it gets no answer. But if it awaits
   * an operation that never settles, the caller must be other code that kept this context, and gets an error.
   */
  #afterHalt(name: string): Promise<never> {
    if (!this.#current && !this.#isStuck) return new Promise(() => {});
    return this.#refuse(
      new EvictedError(
        `"${name}" was started in ${formatLocation(this.location)} of a workflow that is no longer in memory`,
      ),
    );
  }

  #refusal(name: string): Error | undefined {
    if (this.#isEnded) return this.#evictedFor ?? this.#refusalAfterEnd();
    const problem = nameProblem(name);
    if (problem !== undefined)
      return new ActorError("workflow", "invalid_name", `The name of an operation is not valid: ${problem}`);
    if (!this.#current) return undefined;
    return this.#noteMisuse(
      `"${name}" was started in ${formatLocation(this.location)} while "${this.#current.name}" was still ` +
        "in flight: await each operation, use ctx.join to run several at once, and the innermost context " +
        "inside callbacks",
    );
  }

  /** Use of an ended scope is a misuse of the innermost scope around it that has not ended. */
  #refusalAfterEnd(): Error {
    const message = `The scope ${formatLocation(this.location)} has ended; its context can no longer be used`;
    for (let around = this.parent; around; around = around.parent) {
      if (around.isEvicted) return new EvictedError();
      if (!around.#isEnded) return around.#noteMisuse(message);
    }
    return new EntryInProgressError(message);
  }

  #noteMisuse(message: string): EntryInProgressError {
    this.#misuse ??= new EntryInProgressError(message);
    const misuse = this.#misuse;
    misused.set(misuse, this);
    // Only a running callback can claim it as its own failure; otherwise it fails the workflow at once.
    if (!this.#current?.mayRunUserCode) this.activation.turn(() => this.activation.failRun(misuse));
    return misuse;
  }

  /** The usual cases of `#meet`: nothing recorded is left here, or the operation is the one recorded next. */
  #meetsNext(kind: EntryKind | "try", name: string, ordinal: number): boolean {
    const next = this.#unmet.at(-1);
    if (!next) return !this.#isTryBlock;
    const isIt = next.name === name && next.ordinal === ordinal && next.kind === kind && next.isOrdered;
    if (!isIt || UNORDERED.has(kind)) return false;
    this.#unmet.pop();
    return true;
  }

  /** `removed` for a receive covers all receives of that name. */
  #forgetRepeated(name: string): void {
    for (let at = this.#unmet.length - 1; at >= 0; at -= 1)
      if (this.#unmet[at]?.name === name) this.#unmet.splice(at, 1);
  }

  /** Checks the next operation against the recorded ones, in order, by name and kind. */
  #meet(
    kind: EntryKind | "try",
    name: string,
    ordinal: number,
    originalKind: EntryKind | "try" | undefined,
  ): HistoryDivergedError | undefined {
    const used = this.#used.get(name);
    const isDuplicate = used !== undefined && !(used === "message" && kind === "message");
    if (!isDuplicate && this.#meetsNext(kind, name, ordinal)) return undefined;
    const at = formatLocation([...this.location, name]);
    if (isDuplicate) {
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
      // Drops version gates recorded before this operation that the code did not meet: it no longer has them.
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
    // A try block has no entry of its own: one that recorded nothing looks like a new one. Its operations are checked.
    if (!recorded && (UNORDERED.has(kind) || kind === "try")) return undefined;
    const expected = next ?? this.#nextUnmetAround(this.#resultAt);
    if (recorded || expected) return outOfOrder(at, kind, name, expected);
    this.#unmet.length = 0;
    return undefined;
  }
}

/** The scope of each misuse. */
const misused = new WeakMap<object, Scope>();
