/** An SQL parameter. A boolean is stored as 1 or 0; a bigint must fit in 64 bits. */
export type SqlValue = null | number | string | bigint | boolean | Uint8Array;
/** Parameters by name: `{ id: 1 }` for `:id`, `@id` or `$id`. */
export type SqlParameters = Readonly<Record<string, SqlValue>>;

/** Runs SQL: the actor's database, or one transaction on it. */
export interface SqlExecutor {
  /**
   * Runs one statement with parameters (`?`, or `:name` with one object), or several statements without parameters.
   * Returns the rows of the last statement as objects. If a statement fails, all statements of the call are undone.
   *
   * It runs at once, before the call returns, unless a transaction is open. So what an action or a step executes after
   * its last `await` (of anything but its own statements) is committed together with the action's state or the step's
   * result, or not at all. What it executes earlier is committed on its own, and stays if the actor crashes in between.
   *
   * Whole numbers and bigints are bound as integers, other numbers as reals. A stored integer beyond 2^53 is read
   * rounded (`CAST(x AS TEXT)` returns all digits). A BLOB is read as a `Uint8Array`. `BEGIN` and `COMMIT` around the
   * whole SQL string are ignored.
   *
   * @example
   *     const [book] = await c.db.execute<{ id: number }>("insert into books (title) values (?) returning id", title);
   * @throws {sqlite/constraint_failed} when a constraint is violated
   * @throws {sqlite/statement_failed} when SQLite rejects a statement for another reason
   * @throws {sqlite/manual_transaction} when a statement is BEGIN, COMMIT, ROLLBACK or SAVEPOINT in any form
   * @throws {sqlite/invalid_sql} when `sql` is not a string, or contains U+0000
   * @throws {sqlite/invalid_parameter} when a parameter is not an SQL value, or is missing
   * @throws {sqlite/duplicate_column} when the result has two columns of one name
   * @throws {value/too_large} when a value is too large to store
   * @throws {storage/full} when the object's storage is full
   * @throws {sqlite/closed} when the database is closed
   */
  execute<Row = Record<string, unknown>>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]>;
}

/** Options of `c.db.transaction`. */
export interface TransactionOptions {
  /** How long the transaction may take, in ms. Default, and the most: 25,000. */
  readonly timeout?: number;
}

/** `c.db` of an actor with `db: db()`: SQL on the actor's own SQLite database. */
export interface RawAccess extends SqlExecutor {
  /**
   * Runs `work` and commits what it executes on `tx` when it resolves. If it throws, exceeds the timeout, or the actor
   * crashes first, all of it is undone; its error is rethrown. The commit is separate from the state's and from a
   * step's result.
   *
   * Transactions run one after another, in the order of their calls. A statement on `db` waits for the transactions
   * before it, so inside `work` use only `tx`. In a step, such a wait counts as an `await`; the statements that follow
   * in the same turn do not wait again, and are committed with it.
   *
   * While a transaction is open, nothing else happens in the actor: keep it short, and await only `tx` in it. If the
   * actor commits anything meanwhile (a sent message, `saveState`, `kv`, a call to another actor), the transaction is
   * undone and rejects.
   *
   * @example
   *     await c.db.transaction(async (tx) => {
   *       await tx.execute("update pots set cents = cents - ? where name = ?", cents, from);
   *       await tx.execute("update pots set cents = cents + ? where name = ?", cents, to);
   *     });
   * @throws the error of `work`
   * @throws {sqlite/transaction_queue_full} when 128 transactions and statements are already waiting
   * @throws {sqlite/transaction_timed_out} when it exceeds the timeout, or waited behind one that did (it does not run)
   * @throws {sqlite/transaction_interrupted} when the actor commits something while it is open
   * @throws {sqlite/invalid_timeout} when `timeout` is not a positive number of ms
   */
  transaction<T>(work: (tx: SqlExecutor) => T | Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Closes the database until the actor's next start: statements are refused with `sqlite/closed`. */
  close(): Promise<void>;
}

/** Synchronous statements, for drivers: on the database, or in one transaction. It is usable until that ends. */
export interface SqlSession {
  /**
   * Runs one statement; cells are as SQLite returns them.
   *
   * @throws {sqlite/transaction_open} when it runs on the database while a transaction is open
   * @throws {sqlite/transaction_ended} when its transaction has ended
   * @throws the errors of `execute`
   */
  run(sql: string, parameters: readonly unknown[]): SqlTable;
  /**
   * Runs statements that are undone together if `work` throws.
   *
   * @throws {sqlite/asynchronous_transaction} when `work` returns a promise
   */
  atomically<T>(work: (tx: SqlSession) => T): T;
  /**
   * Runs an asynchronous transaction, like that of `RawAccess`. A nested one is undone alone if its work throws.
   *
   * @throws {sqlite/asynchronous_transaction} when it is called inside `atomically`
   * @throws the errors of `RawAccess.transaction`
   */
  transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T>;
}

/** The database as a provider gets it, to build its client on. */
export interface DatabaseAccess extends SqlSession {
  /** The actor whose database it is. */
  readonly actorId: string;
  /** The client of `db()`. */
  readonly raw: RawAccess;
}

/** The result of one statement. */
export interface SqlTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (null | number | string | Uint8Array)[])[];
}

/**
 * An actor's `db`: makes the client that contexts show as `c.db`. `db()` of perdure/db and perdure/db/drizzle return
 * one.
 */
export interface DatabaseProvider<DB> {
  /**
   * Makes the client. A synchronous one is made once for the actor's callbacks, and again for each attempt of a step
   * that uses it. A promise is awaited once, at the actor's start, and everything in that activation shares its client.
   */
  createClient(access: DatabaseAccess): DB | Promise<DB>;
  /** Migrates the tables. Runs at every start, before the actor's own `onMigrate`. */
  onMigrate?(client: DB): void | Promise<void>;
}

/** Runs asynchronous work that user code begins, and returns its promise. */
export type Begin = <T>(work: () => Promise<T>) => Promise<T>;
/** The type of `db` in an actor's configuration. */
export type AnyDatabaseProvider = DatabaseProvider<any> | undefined;

/** The client of a provider; without one, the client of `db()`, as in RivetKit. */
export type InferDatabaseClient<P extends AnyDatabaseProvider> = P extends DatabaseProvider<infer DB> ? DB : RawAccess;

/** The client of a context's type argument `DB`: itself, or the provider's client. */
export type DatabaseClient<DB> = 0 extends 1 & DB ? DB : [DB] extends [DatabaseProvider<infer Client>] ? Client : DB;

/** The configuration of `db()` of perdure/db. */
export interface DatabaseConfig {
  /**
   * Migrates the tables. Runs at every start, before the actor's own `onMigrate`. If either throws, or both together
   * exceed `onMigrateTimeout` (at most 25 s), all their changes are undone and the start fails.
   *
   * @example
   *     db({ onMigrate: async (sql) => void (await sql.execute("create table if not exists books (title text)")) });
   */
  readonly onMigrate?: (db: RawAccess) => void | Promise<void>;
  /** Accepted, has no effect: transactions in SQL are refused, not warned about. */
  readonly warnOnManualTransactions?: boolean;
}
