import { ActorError, readOptions } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { wait, type DeadlineTimers } from "../activation/wait.js";
import type { TransactionOptions } from "../api/database-types.js";
import type { SqlDatabase, Timer } from "../ports.js";
import { sqlError } from "../storage/store-errors.js";

/** The platform resets an object whose transaction takes 30 s. */
export const MAX_TRANSACTION_MS = 25_000;

/** What can end a transaction before its work has finished. */
export interface TransactionEnds {
  readonly timeoutMs: number;
  readonly onTimeout: () => Error;
  /** Called at a commit of the runtime, which must not be rolled back with the transaction. Without it, commits join the transaction. */
  readonly onCommit?: () => Error;
}

/** One transaction of the database, from BEGIN to COMMIT or ROLLBACK. */
export class SqlTransaction {
  readonly #activation: ActorActivation;
  readonly #sql: SqlDatabase;
  readonly #ends: TransactionEnds;
  #hasEnded = false;
  #failure: { readonly error: unknown } | undefined;
  /** The open nested transaction, and a promise of its end. */
  #inner: { readonly transaction: SqlTransaction; readonly ended: Promise<unknown> } | undefined;
  #endsAt = 0;
  #reject: (error: unknown) => void = () => {};

  constructor(activation: ActorActivation, sql: SqlDatabase, ends: TransactionEnds) {
    this.#activation = activation;
    this.#sql = sql;
    this.#ends = ends;
  }

  /**
   * @throws why it was undone; sqlite/transaction_ended when its work is over; sqlite/transaction_open while one inside of it
   * is open, with which a statement would be undone
   */
  check(): void {
    if (this.#failure) throw this.#failure.error;
    if (this.#hasEnded) throw transactionEnded();
    if (this.#inner) throw transactionOpen();
  }

  /** Runs a nested transaction: rolled back alone when it throws, and together with this one in any case. */
  async nest<T>(work: (inner: SqlTransaction) => Promise<T>): Promise<T> {
    const { onCommit, onTimeout } = this.#ends;
    // While it is open, the platform does not fire the timer of the outer one.
    const timeoutMs = this.#endsAt - this.#activation.ports.now();
    const onInnerTimeout = (): Error => {
      const error = onTimeout();
      this.#fail(error);
      return error;
    };
    const inner = new SqlTransaction(this.#activation, this.#sql, {
      timeoutMs,
      onTimeout: onInnerTimeout,
      ...(onCommit && { onCommit }),
    });
    const running = inner.run(() => work(inner));
    this.#inner = { transaction: inner, ended: running.catch(() => {}) };
    try {
      return await running;
    } finally {
      this.#inner = undefined;
    }
  }

  /** Resolves once the writes of `work` are committed. Rejects, with all of them rolled back, if `work` throws or is ended. */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    const { onCommit } = this.#ends;
    let result: T;
    try {
      result = await this.#sql.transaction(() => this.#attempt(work), onCommit && (() => this.#fail(onCommit())));
    } catch (error) {
      // The platform rejects with our own error or with one of its own.
      throw this.#failure ? this.#failure.error : sqlError(error, this.#activation);
    }
    // A commit between the end of the work and the end of the transaction has rolled it back.
    if (this.#failure) throw this.#failure.error;
    return result;
  }

  async #attempt<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#failure) throw this.#failure.error;
    const { ports, abortSignal } = this.#activation;
    this.#endsAt = ports.now() + this.#ends.timeoutMs;
    const deadline = { at: this.#endsAt, outcome: () => this.#endWith(this.#ends.onTimeout()) };
    const aborts = [{ signal: abortSignal, outcome: () => this.#endWith(abortSignal.reason) }];
    try {
      // A timer of its own: one set before does not fire while the transaction is open.
      return await wait<T>(timersOf(ports.createTimer()), { deadline, aborts }, ({ resolve, reject }) => {
        this.#reject = reject;
        begin(work).then(
          (value) => {
            this.#hasEnded = true;
            this.#failInner(transactionEnded());
            resolve(value);
          },
          (error: unknown) => this.#fail(error),
        );
        return () => {};
      });
    } finally {
      // The platform ends the inner one first.
      await this.#inner?.ended;
    }
  }

  #endWith(error: unknown): never {
    this.#fail(error);
    throw error;
  }

  /** From here on every statement of the transaction is refused, even in this turn. */
  #fail(error: unknown): void {
    this.#hasEnded = true;
    this.#failure ??= { error };
    this.#failInner(error);
    this.#reject(error);
  }

  #failInner(error: unknown): void {
    if (this.#inner) this.#inner.transaction.#fail(error);
  }
}

function timersOf(timer: Timer): DeadlineTimers {
  return { add: ({ at, fire }) => timer.set(at, fire), remove: () => timer.clear() };
}

async function begin<T>(work: () => T | Promise<T>): Promise<T> {
  return work();
}

export function transactionEnded(): ActorError {
  return new ActorError("sqlite", "transaction_ended", "The transaction has ended; its `tx` can no longer be used");
}

export function transactionOpen(): ActorError {
  return new ActorError(
    "sqlite",
    "transaction_open",
    "A synchronous statement cannot wait for the transaction that is open; inside of one, use its `tx`",
  );
}

/** @throws sqlite/invalid_timeout */
export function timeoutOf(options: TransactionOptions | undefined): number {
  const { timeout } = readOptions(
    "db.transaction",
    options,
    ["timeout"],
    (problem) => new ActorError("sqlite", "invalid_option", problem),
  );
  if (timeout === undefined) return MAX_TRANSACTION_MS;
  if (typeof timeout !== "number" || !(timeout > 0) || timeout === Infinity)
    throw new ActorError("sqlite", "invalid_timeout", "A transaction's timeout must be a positive number of ms");
  return Math.min(timeout, MAX_TRANSACTION_MS);
}
