import type { SqlCell, SqlDatabase, SqlResult } from "../actor/index.js";

/** A transaction that a commit of the runtime must undo first. */
interface OpenTransaction {
  undo(): void;
  /** Fails its work, and so the transaction. */
  fail(): void;
}

/** The open transactions of one object, innermost last, shared by all activations. */
export class OpenTransactions {
  readonly #open: OpenTransaction[] = [];

  add(transaction: OpenTransaction): void {
    this.#open.push(transaction);
  }

  remove(transaction: OpenTransaction): void {
    const at = this.#open.indexOf(transaction);
    if (at !== -1) this.#open.splice(at, 1);
  }

  /**
   * Undoes them now, in this turn, so that later writes are not part of any.
   *
   * @throws when they are nested, since the platform undoes the outer one only after the inner one has ended: all of
   *   them then end, but not in this turn
   */
  undo(): void {
    if (this.#open.length > 1) {
      for (const transaction of [...this.#open].reverse()) transaction.fail();
      throw new Error("Nothing can be stored or sent by itself while a transaction is open inside of another");
    }
    for (const transaction of this.#open.splice(0)) {
      transaction.undo();
      transaction.fail();
    }
  }
}

/**
 * SQL on the storage of a SQLite-backed object. SQL can neither read nor change the runtime's rows, which are in the
 * key-value API. Statements, key-value writes and the alarm of one turn become durable together.
 *
 * An asynchronous transaction of the platform would take along whatever else the object writes while it is open, our
 * commits too, and what leaves the object meanwhile does not wait for it (COMMIT-11). So a commit undoes it.
 */
export class ObjectSql implements SqlDatabase {
  readonly #storage: DurableObjectStorage;
  readonly #check: () => void;
  readonly #transactions: OpenTransactions;

  /** `check` throws once a later activation has begun. */
  constructor(storage: DurableObjectStorage, check: () => void, transactions: OpenTransactions) {
    this.#storage = storage;
    this.#check = check;
    this.#transactions = transactions;
  }

  execute(sql: string, parameters: readonly SqlCell[]): SqlResult {
    this.#check();
    const cursor = this.#storage.sql.exec(sql, ...parameters);
    // The platform's cursor is live: read it to its end before anything can change the rows.
    const rows = [...cursor.raw()] as SqlResult["rows"];
    return { columns: cursor.columnNames, rows, hasWritten: cursor.rowsWritten > 0 };
  }

  atomically<T>(work: () => T): T {
    this.#check();
    return this.#storage.transactionSync(work);
  }

  async transaction<T>(work: () => Promise<T>, onCommit?: () => void): Promise<T> {
    this.#check();
    return this.#storage.transaction(async (transaction) => {
      this.#check();
      if (!onCommit) return work();
      const open: OpenTransaction = { undo: () => transaction.rollback(), fail: onCommit };
      this.#transactions.add(open);
      try {
        return await work();
      } finally {
        this.#transactions.remove(open);
      }
    });
  }

  leaving(): void {
    this.#transactions.undo();
  }
}
