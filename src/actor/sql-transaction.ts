import { ActorError } from "../protocol/index.js";
import type { ActorActivation } from "./activation.js";
import type { SqlDatabase } from "./ports.js";
import { sqlError } from "./sql-errors.js";

/** What ends a transaction before its work does. */
export interface TransactionEnds {
  readonly timeoutMs: number;
  readonly onTimeout: () => Error;
  /** A commit of the runtime, which must not be undone with it; without this, commits become part of the transaction. */
  readonly onCommit?: () => Error;
}

/** One transaction of the database, from its begin to commit or undoing. */
export class SqlTransaction {
  readonly #activation: ActorActivation;
  readonly #sql: SqlDatabase;
  readonly #ends: TransactionEnds;
  #hasEnded = false;
  #failure: { readonly error: unknown } | undefined;
  #reject: (error: unknown) => void = () => {};

  constructor(activation: ActorActivation, sql: SqlDatabase, ends: TransactionEnds) {
    this.#activation = activation;
    this.#sql = sql;
    this.#ends = ends;
  }

  /** @throws why it was undone; sqlite/transaction_ended when its work is over */
  check(): void {
    if (this.#failure) throw this.#failure.error;
    if (this.#hasEnded) throw new ActorError("sqlite", "transaction_ended", "The transaction has ended; its `tx` cannot be used any more");
  }

  /** Resolves when what `work` wrote is committed. @throws what `work` throws, or what ended it: then all of it is undone */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    const { onCommit } = this.#ends;
    let result: T;
    try {
      result = await this.#sql.transaction(() => this.#attempt(work), onCommit && (() => this.#fail(onCommit())));
    } catch (error) {
      // What the platform rejects with is about our own error, or something of its own.
      throw this.#failure ? this.#failure.error : sqlError(error, this.#activation);
    }
    // A commit that came between the end of the work and the end of the transaction has undone it.
    if (this.#failure) throw this.#failure.error;
    return result;
  }

  async #attempt<T>(work: () => T | Promise<T>): Promise<T> {
    const { ports, abortSignal } = this.#activation;
    // A timer of its own: one that was set before is not delivered while the transaction is open.
    const timer = ports.createTimer();
    const onEnd = (): void => this.#fail(abortSignal.reason);
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#reject = reject;
        abortSignal.addEventListener("abort", onEnd, { once: true });
        timer.set(ports.now() + this.#ends.timeoutMs, () => this.#fail(this.#ends.onTimeout()));
        begin(work).then(
          (value) => {
            this.#hasEnded = true;
            resolve(value);
          },
          (error: unknown) => this.#fail(error),
        );
      });
    } finally {
      timer.clear();
      abortSignal.removeEventListener("abort", onEnd);
    }
  }

  /** From here on nothing of it runs any more: not even what its work does in this very turn. */
  #fail(error: unknown): void {
    this.#hasEnded = true;
    this.#failure ??= { error };
    this.#reject(error);
  }
}

async function begin<T>(work: () => T | Promise<T>): Promise<T> {
  return work();
}
