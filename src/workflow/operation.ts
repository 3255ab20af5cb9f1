import { type Effects } from "../protocol/index.js";
import type { Activation } from "./activation.js";
import { noteOperation } from "./failure.js";
import type { Entry, EntryKind } from "./history/entry.js";
import type { Location } from "./history/location.js";

/** What an operation, and the primitive behind it, needs from its scope. */
export interface OperationScope {
  readonly activation: Activation;
  readonly effects: Effects;
  /** Ends the operation. False: the scope was misused meanwhile, and the workflow fails instead of continuing. */
  endOperation(operation: Operation): boolean;
}

/** A branch that has not ended, or a run without branches. */
export interface OpenBranch {
  /** Of its operation in flight, or of its scope. */
  readonly location: Location;
  /** Undefined while its code runs, or awaits something outside the engine. */
  readonly operation?: {
    readonly kind: EntryKind | "try";
    /** True while it waits for a deadline or a message. */
    readonly isWaiting: boolean;
    /** Of a step or receive, also if it is not recorded yet; otherwise the one recorded by an earlier activation. */
    readonly entry: Entry | undefined;
  };
}

/**
 * One `ctx.…` call in flight: the promise that user code holds, and whether it works, waits or delegates to child scopes.
 * All its methods but `begin` are called inside a turn of the activation.
 */
export class Operation {
  readonly scope: OperationScope;
  readonly kind: EntryKind | "try";
  readonly name: string;
  readonly location: Location;
  /** The history entry at this location: recorded earlier, or put by this operation. */
  entry: Entry | undefined;
  /** The entry of a step or receive in flight, which may not be recorded yet. */
  draft: Entry | undefined;
  readonly promise: Promise<unknown>;
  #resolve!: (value: unknown) => void;
  #reject!: (reason: unknown) => void;
  /** `new`: a yield comes before it (FLOW-12). */
  #state: "new" | "working" | "waiting" | "delegated" | "settled" = "new";
  #starting = true;
  #onEnd: (() => void) | undefined;

  constructor(
    scope: OperationScope,
    kind: EntryKind | "try",
    name: string,
    location: Location,
    entry: Entry | undefined,
  ) {
    this.scope = scope;
    this.kind = kind;
    this.name = name;
    this.location = location;
    this.entry = entry;
    this.draft = entry;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get activation(): Activation {
    return this.scope.activation;
  }

  get isSettled(): boolean {
    return this.#state === "settled";
  }

  /** It as what its branch does. */
  get asBranch(): OpenBranch {
    const { kind, location, draft } = this;
    return { location, operation: { kind, isWaiting: this.#state === "waiting", entry: draft } };
  }

  /** True while a step's callback may be the code that misuses the scope (FLOW-11). */
  get mayRunUserCode(): boolean {
    return this.#state === "working" || this.#state === "delegated";
  }

  /**
   * Starts it in a turn, and yields to other events before that now and then (FLOW-12). Never between a result and the code
   * that awaits it: another branch could end meanwhile, and a race be lost by a branch whose work is done and stored.
   */
  begin(start: () => void): void {
    const { activation } = this;
    const begin = (): void => {
      activation.countUserCode(-1);
      if (this.isSettled) return;
      this.#state = "working";
      activation.countWork(1);
      start();
    };
    if (!activation.pace.count(activation.isReplaying)) return activation.turn(begin);
    void activation.pace.yield().then(() => activation.turn(begin));
  }

  /** Leaf: waits for a deadline or a message. Commits what is dirty at the end of the turn. */
  park(): void {
    if (this.#state !== "working") return;
    this.#state = "waiting";
    this.activation.countWork(-1);
    this.activation.wantCommit();
  }

  /** Leaf: works again (a backoff is over). */
  resume(): void {
    if (this.#state !== "waiting") return;
    this.#state = "working";
    this.activation.countWork(1);
  }

  /** Not a leaf: the scopes it opened count as busy instead. */
  delegate(): void {
    if (this.#state !== "working") return;
    this.#state = "delegated";
    this.activation.countWork(-1);
  }

  fulfil(value: unknown): void {
    this.#settle(() => this.#resolve(value));
  }

  reject(error: unknown): void {
    const entry = this.activation.history.find(this.location);
    // The error of a loop comes from its own code or from an operation in it.
    if (entry && entry.kind !== "loop") noteOperation(error, entry.seq);
    this.#settle(() => this.#reject(error));
  }

  /** Registers cleanup that runs when the operation ends in any way (FLOW-13). */
  onEnd(clean: () => void): void {
    this.#onEnd = clean;
  }

  /** The scope was ended from outside: rejects, and no longer counts as busy. Called inside a turn. */
  evict(reason: Error): void {
    if (this.#state === "settled") return;
    if (this.#state === "working") this.activation.countWork(-1);
    this.#state = "settled";
    this.#onEnd?.();
    // With this turn, not after a yield: the run may be over by then.
    this.activation.afterTurn(() => this.#reject(reason));
    // It may never be awaited again, which is not an unhandled rejection.
    this.promise.catch(() => {});
  }

  /** Called by the scope when the call that starts the operation returns. */
  started(): void {
    this.#starting = false;
  }

  #settle(settle: () => void): void {
    if (this.#state === "settled") return;
    // Never settle within the call itself, whether the result is recorded or comes from a synchronous step: a missing
    // await is then detected every time or never.
    if (this.#starting) {
      void Promise.resolve().then(() => this.activation.turn(() => this.#settle(settle)));
      this.#starting = false;
      return;
    }
    const wasWorking = this.#state === "working";
    this.#state = "settled";
    this.#onEnd?.();
    if (wasWorking) this.activation.countWork(-1);
    this.activation.countUserCode(1);
    if (this.scope.endOperation(this)) this.activation.release(settle);
  }
}
