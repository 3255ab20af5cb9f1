import { type Effects } from "../protocol/index.js";
import type { Activation } from "./activation.js";
import { noteOperation } from "./failure.js";
import type { Entry } from "./history/entry.js";
import type { Location } from "./history/location.js";

/** What an operation, and the op behind it, needs of its scope. */
export interface OperationScope {
  readonly activation: Activation;
  readonly effects: Effects;
  /** The operation is over. False: it was misused meanwhile, and the workflow fails instead of going on. */
  left(operation: Operation): boolean;
}

/**
 * One `ctx.…` call in flight: the promise that user code holds, and whether it works, waits or has handed on to scopes
 * of its own. All its methods are called inside a turn of the activation.
 */
export class Operation {
  readonly scope: OperationScope;
  readonly name: string;
  readonly location: Location;
  /** What history holds at this location; recorded before, or put by this operation. */
  entry: Entry | undefined;
  readonly promise: Promise<unknown>;
  #resolve!: (value: unknown) => void;
  #reject!: (reason: unknown) => void;
  #state: "working" | "waiting" | "delegated" | "settled" = "working";
  #starting = true;
  #onEnd: (() => void) | undefined;

  constructor(scope: OperationScope, name: string, location: Location, entry: Entry | undefined) {
    this.scope = scope;
    this.name = name;
    this.location = location;
    this.entry = entry;
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

  /** True while a step's callback may be the one that misuses its scope (FLOW-11). */
  get mayRunUserCode(): boolean {
    return this.#state === "working" || this.#state === "delegated";
  }

  /** Leaf: waits for a deadline or a message. What is dirty is committed with the turn. */
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

  /** Not a leaf: scopes that it has opened count instead. */
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
    // A loop's own code, or an operation in it, has thrown.
    if (entry && entry.kind !== "loop") noteOperation(error, entry.seq);
    this.#settle(() => this.#reject(error));
  }

  /** Runs when the operation is over, however: for what must not stay behind (FLOW-13). */
  onEnd(clean: () => void): void {
    this.#onEnd = clean;
  }

  /** The scope was ended from outside: rejects, and counts as nothing any more. Called inside a turn. */
  evict(reason: Error): void {
    if (this.#state === "settled") return;
    if (this.#state === "working") this.activation.countWork(-1);
    this.#state = "settled";
    this.#onEnd?.();
    // At once, not after a yield: the run may be over by then.
    this.activation.afterTurn(() => this.#reject(reason));
    // Code that has given up on this operation must not be reported as an unhandled rejection.
    this.promise.catch(() => {});
  }

  /** Called by the scope once the call that starts the operation is over. */
  started(): void {
    this.#starting = false;
  }

  #settle(settle: () => void): void {
    if (this.#state === "settled") return;
    // No answer comes within the call itself, neither from history nor from a step that does not wait: so a forgotten
    // await is noticed every time or never.
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
    if (this.scope.left(this)) this.activation.release(settle);
  }
}
