import type { SqlCell, SqlDatabase, SqlResult } from "../actor/ports.js";

/** As much of Node's `DatabaseSync` (`node:sqlite`) as is used here. */
export interface SqliteDatabase {
  /** Whether a transaction is open. */
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): {
    setReturnArrays(enabled: boolean): void;
    setReadBigInts(enabled: boolean): void;
    columns(): readonly { readonly name: string }[];
    all(...parameters: never[]): unknown[];
  };
}

/** The turn that SQL is part of. */
export interface SqlTurn {
  /** What is written from here on becomes durable with the turn. */
  open(): void;
  next(): Promise<void>;
  /** The database has undone the turn by itself: the platform resets the object. */
  broken(): void;
}

interface Savepoint {
  readonly name: string;
  /** How many rows had been changed when it was made. */
  readonly changesBefore: number;
}

interface OpenTransaction extends Savepoint {
  readonly onCommit: (() => void) | undefined;
}

/**
 * SQL in memory that behaves as the platform's was measured to: statements of one turn become durable together with the rows
 * of that turn, a crash before its end loses all of them, and a commit undoes an open transaction. Two things are the test's
 * own: other events go on while a transaction is open, and it has whatever functions its SQLite has.
 */
export class MemorySql {
  readonly #create: () => SqliteDatabase;
  readonly #turn: SqlTurn;
  #made: SqliteDatabase | undefined;
  /** Whether a transaction of SQLite's is open: what the turn wrote. */
  #isOpen = false;
  /** How many rows had been changed when it was opened. */
  #changesBefore = 0;
  /** How many changes of rows were undone: SQLite goes on counting them. */
  #undone = 0;
  readonly #transactions: OpenTransaction[] = [];
  /** Transactions that were asked for and have not ended. */
  #expected = 0;
  #idle: (() => void)[] = [];
  #names = 0;

  constructor(create: () => SqliteDatabase, turn: SqlTurn) {
    this.#create = create;
    this.#turn = turn;
  }

  /** Made when it is used first: most actors of a world have no SQL. */
  get #database(): SqliteDatabase {
    this.#made ??= this.#create();
    return this.#made;
  }

  get isBusy(): boolean {
    return this.#expected > 0;
  }

  /** Resolves when no transaction is open, or asked for. */
  idle(): Promise<void> {
    return this.isBusy ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  /** The database for one activation; `check` throws once that is over. */
  activate(check: () => void): SqlDatabase {
    return {
      execute: (sql, parameters) => {
        check();
        return this.#execute(sql, parameters);
      },
      atomically: (work) => {
        check();
        return this.#atomically(work);
      },
      transaction: (work, onCommit) => {
        check();
        return this.#transaction(check, work, onCommit);
      },
      leaving: () => this.undo(),
    };
  }

  /** A commit comes: it is part of no transaction that says what to do then. @throws if those are nested, as the platform */
  undo(): void {
    const undone = this.#transactions.filter(({ onCommit }) => onCommit).reverse();
    if (undone.length > 1) {
      for (const { onCommit } of undone) onCommit?.();
      throw new Error("Nothing can be stored or sent by itself while a transaction is open inside of another");
    }
    for (const transaction of undone) {
      this.#undo(transaction);
      transaction.onCommit?.();
    }
  }

  /** Whether the turn, should it end now, makes rows durable. */
  get hasWritten(): boolean {
    return this.#isOpen && this.#transactions.length === 0 && this.#changes() !== this.#changesBefore;
  }

  /** The turn is over: what it wrote is durable. False: a deferred constraint is broken, and the object is reset. */
  endTurn(): boolean {
    if (!this.#isOpen || this.#transactions.length > 0) return true;
    try {
      this.#database.exec("COMMIT");
      this.#isOpen = false;
      return true;
    } catch {
      return false;
    }
  }

  /** The process died: what was not durable is gone. */
  crash(): void {
    this.#transactions.length = 0;
    if (this.#made?.isTransaction) this.#made.exec("ROLLBACK");
    this.#isOpen = false;
    this.#expected = 0;
    this.#settle();
  }

  deleteAll(): void {
    this.crash();
    this.#made = undefined;
  }

  #execute(sql: string, parameters: readonly SqlCell[]): SqlResult {
    this.#begin();
    const changesBefore = this.#changes();
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    let rows: (SqlCell | bigint)[][];
    try {
      rows = statement.all(...(parameters as never[])) as (SqlCell | bigint)[][];
    } catch (error) {
      if (!this.#database.isTransaction) this.#turn.broken();
      throw error;
    }
    return {
      columns: statement.columns().map(({ name }) => name),
      // As the platform: an integer beyond 2^53 is rounded.
      rows: rows.map((cells) => cells.map((cell) => (typeof cell === "bigint" ? Number(cell) : cell))),
      hasWritten: this.#changes() !== changesBefore || /^\s*(create|drop|alter)\b/i.test(sql),
    };
  }

  #changes(): number {
    const [row] = this.#database.prepare("SELECT total_changes() AS n").all() as { n: number }[];
    return (row?.n ?? 0) - this.#undone;
  }

  #atomically<T>(work: () => T): T {
    const savepoint = this.#savepoint();
    try {
      const result = work();
      this.#database.exec(`RELEASE ${savepoint.name}`);
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#undoTo(savepoint);
      throw error;
    }
  }

  #undoTo({ name, changesBefore }: Savepoint): void {
    this.#database.exec(`ROLLBACK TO ${name}; RELEASE ${name}`);
    this.#undone += this.#changes() - changesBefore;
  }

  async #transaction<T>(check: () => void, work: () => Promise<T>, onCommit: (() => void) | undefined): Promise<T> {
    this.#expected += 1;
    try {
      await this.#turn.next();
      check();
      return await this.#run(work, onCommit);
    } finally {
      this.#expected = Math.max(0, this.#expected - 1);
      if (!this.isBusy) this.#settle();
    }
  }

  async #run<T>(work: () => Promise<T>, onCommit: (() => void) | undefined): Promise<T> {
    // What was written before is no part of it.
    this.endTurn();
    const transaction: OpenTransaction = { ...this.#savepoint(), onCommit };
    this.#transactions.push(transaction);
    try {
      const result = await work();
      if (this.#isStillOpen(transaction)) this.#database.exec(`RELEASE ${transaction.name}`);
      return result;
    } catch (error) {
      if (this.#isStillOpen(transaction)) this.#undo(transaction);
      throw error;
    } finally {
      this.#remove(transaction);
    }
  }

  #isStillOpen(transaction: OpenTransaction): boolean {
    return this.#transactions.includes(transaction);
  }

  #undo(transaction: OpenTransaction): void {
    this.#undoTo(transaction);
    this.#remove(transaction);
  }

  #remove(transaction: OpenTransaction): void {
    const at = this.#transactions.indexOf(transaction);
    if (at !== -1) this.#transactions.splice(at, 1);
    // What stands now becomes durable with this turn.
    if (this.#transactions.length === 0 && this.#isOpen) this.#turn.open();
  }

  #settle(): void {
    const idle = this.#idle;
    this.#idle = [];
    for (const each of idle) each();
  }

  #savepoint(): Savepoint {
    this.#begin();
    this.#names += 1;
    const name = `perdure_${this.#names}`;
    this.#database.exec(`SAVEPOINT ${name}`);
    return { name, changesBefore: this.#changes() };
  }

  #begin(): void {
    if (this.#transactions.length === 0) this.#turn.open();
    if (this.#isOpen) return;
    this.#database.exec("BEGIN");
    this.#changesBefore = this.#changes();
    this.#isOpen = true;
  }
}
