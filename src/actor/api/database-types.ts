/** What SQL takes as a parameter. A boolean is stored as 1 or 0. A bigint must be within 64 bits. */
export type SqlValue = null | number | string | bigint | boolean | Uint8Array;
/** Parameters by name: `{ id: 1 }` for `:id`, `@id` or `$id`. */
export type SqlParameters = Readonly<Record<string, SqlValue>>;

/** Runs SQL: the actor's database, or one transaction on it. */
export interface SqlExecutor {
  /**
   * Runs one statement with parameters (`?`, or `:name` with one object of them), or a text of several statements without.
   * All statements of one call are undone if one fails. Gives the rows of the last one, each as an object.
   *
   * It runs at once, before the call returns, unless a transaction is open. So statements are stored together with whatever
   * else the actor stores in the same turn: what an action or a step's callback executes after its last `await` of anything
   * but its own statements is committed together with the action's state or the step's result, or not at all. What it
   * executes before that is committed on its own, and stays if the actor dies in between.
   *
   * Whole numbers and bigints are bound as integers, others as reals. A stored integer beyond 2^53 is read rounded
   * (`CAST(x AS TEXT)` gives all digits). `BEGIN` and `COMMIT` around all of one text are left out. A BLOB is read as `Uint8Array`.
   *
   * @throws sqlite/constraint_failed, sqlite/statement_failed, sqlite/manual_transaction for BEGIN, COMMIT, ROLLBACK,
   * SAVEPOINT in any form, sqlite/invalid_sql, sqlite/invalid_parameter, sqlite/duplicate_column, value/too_large,
   * storage/full, sqlite/closed
   */
  execute<Row = Record<string, unknown>>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]>;
}

export interface TransactionOptions {
  /** How long it may take, ms; default and most 25,000. */
  readonly timeout?: number;
}

/** `c.db` of an actor with `db: db()`: SQL on the actor's own SQLite database, which nobody else can reach. */
export interface RawAccess extends SqlExecutor {
  /**
   * Runs `work`; what it executes on `tx` is committed when it resolves, or undone as a whole when it throws, when the timeout
   * comes, and when the actor dies first. Its error is rethrown. It commits on its own, apart from the state and from a step's
   * result.
   *
   * Transactions run one after the other, in order of call; a statement on `db` waits until those before it have ended, so
   * inside of `work` use `tx` only. For what came before it in a step such a wait is an `await` like any other; the statements
   * that follow it in its turn do not wait again, and are stored with it. While one is open, nothing else happens in
   * the actor: keep it short, and do not await calls in it. If the actor commits anything meanwhile (a message sent,
   * `saveState`, `kv`, a call to another actor), the transaction is undone and rejects.
   *
   * @throws what `work` throws, sqlite/transaction_queue_full with 128 waiting, sqlite/transaction_timed_out (also for what
   * waited behind it, which does not run), sqlite/transaction_interrupted by a commit, sqlite/invalid_timeout
   */
  transaction<T>(work: (tx: SqlExecutor) => T | Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Ends the use of the database until the actor's next start: statements are refused with sqlite/closed. */
  close(): Promise<void>;
}

/** Statements at once, for drivers that are synchronous: on the database, or in one transaction, whose end ends it. */
export interface SqlSession {
  /** As `execute`; cells as SQLite gives them. @throws as `execute`; sqlite/transaction_open; sqlite/transaction_ended */
  run(sql: string, parameters: readonly unknown[]): SqlTable;
  /** Statements of one turn that are undone together if `work` throws. @throws sqlite/asynchronous_transaction if it gives a promise */
  atomically<T>(work: (tx: SqlSession) => T): T;
  /**
   * A transaction over turns, as that of `RawAccess`; one inside of another is undone alone when its work throws.
   * @throws as that; sqlite/asynchronous_transaction inside of `atomically`
   */
  transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T>;
}

/** What a provider builds its client on. */
export interface DatabaseAccess extends SqlSession {
  /** The actor whose database it is. */
  readonly actorId: string;
  /** As `c.db` of `db()`. */
  readonly raw: RawAccess;
}

/** The result of one statement. */
export interface SqlTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (null | number | string | Uint8Array)[])[];
}

/** An actor's `db`: makes the client that its contexts show as `c.db`. `db()` of perdure/db and perdure/db/drizzle give one. */
export interface DatabaseProvider<DB> {
  /**
   * Makes the client. One that is made at once is made for the actor's callbacks, and again for each attempt of a step that
   * asks for it; a promise is awaited once, at the actor's start, and all of the activation share what it gives.
   */
  createClient(access: DatabaseAccess): DB | Promise<DB>;
  /** Brings the tables up to date; at every start, before the actor's own `onMigrate`. */
  onMigrate?(client: DB): void | Promise<void>;
}

/** Runs what user code begins; gives the promise that it gets. */
export type Begin = <T>(work: () => Promise<T>) => Promise<T>;
/** What `db` of an actor's configuration may be. */
export type AnyDatabaseProvider = DatabaseProvider<any> | undefined;

/** `c.db` behind a provider; that of `db()` where there is none, as RivetKit has it. */
export type InferDatabaseClient<P extends AnyDatabaseProvider> = P extends DatabaseProvider<infer DB> ? DB : RawAccess;

/** The client that a context's type argument means: itself, or that of the provider. */
export type DatabaseClient<DB> = 0 extends 1 & DB ? DB : [DB] extends [DatabaseProvider<infer Client>] ? Client : DB;

/** The database of an activation, as contexts use it. */
export interface ActorDatabase {
  /** What callbacks see as `c.db`. */
  readonly client: unknown;
  /** Counts statements that wrote. */
  readonly writes: number;
  /** A client of its own: `guard` runs before each use and may refuse it; `begin` runs what takes its time. */
  createClient(guard: () => void, begin: Begin): unknown;
}

/** What `db()` of perdure/db takes. */
export interface DatabaseConfig {
  /**
   * Brings the tables up to date, at every start of the actor, before its own `onMigrate`. If either throws, or both take
   * longer than `onMigrateTimeout` (25 s at most), all that they changed is undone and the start fails.
   */
  readonly onMigrate?: (db: RawAccess) => void | Promise<void>;
  /** Accepted, without effect: transactions by SQL text are refused, not warned of. */
  readonly warnOnManualTransactions?: boolean;
}
