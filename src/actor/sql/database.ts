/**
 * The actor's SQL database in one activation.
 *
 * Owns: who may run a statement when, what a transaction is, what its errors are called. Does not own: the connection
 * (`SqlDatabase`, a port), what a statement's text may say (sql-text.ts), its values (sql-values.ts).
 * Invariants: a statement runs in the turn of its call unless a transaction stands before it; a transaction never undoes a
 * commit of the runtime; after the activation has ended no statement runs.
 */
import { ActorError, isThenable } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type {
  Begin,
  DatabaseAccess,
  DatabaseProvider,
  SqlExecutor,
  SqlSession,
  SqlTable,
  TransactionOptions,
} from "../api/database-types.js";
import type { SqlDatabase } from "../ports.js";
import { sqlError } from "../storage/store-errors.js";
import { createSession, type SessionSource } from "./sql-session.js";
import { readSql, type SqlStatement } from "./sql-text.js";
import { MAX_TRANSACTION_MS, SqlTransaction, timeoutOf, transactionOpen } from "./sql-transaction.js";
import { bind, toRows, toTable, type BoundStatement } from "./sql-values.js";

const MAX_WAITING = 128;
/** Parsed statements that are kept: how many, and of how many characters at most. */
const MAX_TEXTS = 100;
const MAX_TEXT_LENGTH = 2_000;

/** A call that waits for the open transaction. */
interface Waiting {
  readonly isTransaction: boolean;
  go(): void;
  refuse(error: Error): void;
}

export class Database {
  readonly #activation: ActorActivation;
  readonly #sql: SqlDatabase;
  readonly #provider: DatabaseProvider<unknown>;
  /** In the order of the calls. */
  readonly #waiting: Waiting[] = [];
  readonly #idle: (() => void)[] = [];
  readonly #texts = new Map<unknown, readonly SqlStatement[]>();
  readonly #source: SessionSource = {
    run: (sql, parameters) => this.#atomically(() => this.#runAll(bind(this.#read(sql), parameters))),
    atomically: (work) => this.#sql.atomically(work),
  };
  /** Counts writes. */
  writes = 0;
  #isHeld = false;
  #start: SqlTransaction | undefined;
  #isClosed = false;
  #client: unknown;
  /** The provider made the client asynchronously: all contexts share it. */
  #isShared = false;
  #isUnconfirmed = false;
  #isConfirming = false;

  constructor(activation: ActorActivation, sql: SqlDatabase, provider: DatabaseProvider<unknown>) {
    this.#activation = activation;
    this.#sql = sql;
    this.#provider = provider;
  }

  /** What callbacks see as `c.db`. */
  get client(): unknown {
    this.#client ??= this.#makeClient();
    return this.#client;
  }

  /** Makes the client; returns a promise if the provider makes it asynchronously. */
  open(): Promise<void> | undefined {
    const made = this.client;
    if (!isThenable(made)) return undefined;
    this.#isShared = true;
    return Promise.resolve(made).then((client) => void (this.#client = client));
  }

  /** A client for one context, if the provider makes it synchronously. `guard` runs before each use and may throw. */
  createClient(guard: () => void, begin: Begin): unknown {
    return this.#isShared ? this.#client : this.#makeClient(guard, begin);
  }

  #makeClient(guard: () => void = () => {}, begin: Begin = (work) => work()): unknown {
    const check = (): void => {
      guard();
      this.#check();
    };
    const free = (): void => {
      check();
      if (this.#isHeld) throw transactionOpen();
    };
    const access: DatabaseAccess = {
      actorId: this.#activation.record.actorId,
      raw: Object.freeze({
        execute: (sql: unknown, ...given: unknown[]) =>
          begin(async () => {
            check();
            const statements = bind(this.#read(sql), given);
            return this.#next(() => {
              check();
              return this.#rows(statements);
            });
          }),
        transaction: <T>(work: (tx: SqlExecutor) => T | Promise<T>, options?: TransactionOptions) =>
          begin(async () => {
            check();
            if (typeof work !== "function")
              throw new ActorError(
                "sqlite",
                "invalid_sql",
                "A transaction is a function: `db.transaction(async (tx) => …)`",
              );
            return this.#transaction(
              (transaction) => work(this.#executor(transaction, check)),
              timeoutOf(options),
              check,
            );
          }),
        close: async () => {
          check();
          this.#isClosed = true;
        },
      }) as DatabaseAccess["raw"],
      ...createSession(this.#source, free, (work) => {
        return begin(async () => {
          check();
          return this.#transaction((transaction) => work(this.#within(transaction, check)), MAX_TRANSACTION_MS, check);
        });
      }),
    };
    return this.#provider.createClient(access);
  }

  /** Runs the provider's migration. */
  async migrate(): Promise<void> {
    await this.open();
    await this.#provider.onMigrate?.(this.client);
  }

  get hasMigration(): boolean {
    return this.#provider.onMigrate !== undefined;
  }

  /**
   * Runs a start: its SQL and the commit that ends it are stored together, or neither is (START-3).
   *
   * @throws {actor/callback_timed_out} when it takes too long; and whatever `work` throws
   */
  async start<T>(name: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
    const durationMs = Math.min(timeoutMs, MAX_TRANSACTION_MS);
    const metadata = { callback_name: name, duration_ms: durationMs };
    const onTimeout = (): ActorError =>
      new ActorError("actor", "callback_timed_out", `\`${name}\` did not finish within ${durationMs} ms`, { metadata });
    const transaction = new SqlTransaction(this.#activation, this.#sql, { timeoutMs: durationMs, onTimeout });
    this.#start = transaction;
    const result = await transaction.run(work);
    this.#start = undefined;
    return result;
  }

  /** Call before something leaves the actor: an open transaction is rolled back, since it would commit only afterwards (COMMIT-11). */
  leaving(): void {
    this.#sql.leaving();
  }

  /** Resolves when no transaction is open; undefined if none is. */
  idle(): Promise<void> | undefined {
    return this.#isHeld ? new Promise((resolve) => this.#idle.push(resolve)) : undefined;
  }

  async #transaction<T>(
    work: (transaction: SqlTransaction) => T | Promise<T>,
    timeoutMs: number,
    check: () => void,
  ): Promise<T> {
    const onTimeout = (): ActorError => {
      // The calls that wait may come from its own work, which was rolled back.
      for (const { refuse } of this.#waiting.splice(0))
        refuse(timedOut(`The transaction before this did not end within ${timeoutMs} ms; this did not run`));
      return timedOut(`The transaction did not end within ${timeoutMs} ms, and was undone`);
    };
    const transaction = new SqlTransaction(this.#activation, this.#sql, {
      timeoutMs,
      onTimeout,
      onCommit: interrupted,
    });
    return this.#alone(() => {
      check();
      return transaction.run(() => work(transaction));
    });
  }

  /** The `tx` that the work of a transaction gets. */
  #executor(transaction: SqlTransaction, check: () => void): SqlExecutor {
    return Object.freeze({
      execute: async (sql: unknown, ...given: unknown[]) => {
        check();
        transaction.check();
        return this.#rows(bind(this.#read(sql), given));
      },
    }) as SqlExecutor;
  }

  /** The same for synchronous drivers, which may nest transactions in it. */
  #within(transaction: SqlTransaction, check: () => void): SqlSession {
    const checkAll = (): void => {
      check();
      transaction.check();
    };
    return createSession(this.#source, checkAll, async (work) => {
      checkAll();
      return transaction.nest((inner) => work(this.#within(inner, check)));
    });
  }

  #rows(statements: readonly BoundStatement[]): Record<string, unknown>[] {
    return this.#atomically(() => toRows(this.#runAll(statements)));
  }

  #runAll(statements: readonly BoundStatement[]): SqlTable {
    let result: SqlTable = { columns: [], rows: [] };
    for (const statement of statements) result = this.#run(statement);
    return result;
  }

  /** Most actors run the same statements again and again. */
  #read(sql: unknown): readonly SqlStatement[] {
    const known = this.#texts.get(sql);
    if (known) return known;
    const statements = readSql(sql);
    if (this.#texts.size >= MAX_TEXTS) this.#texts.clear();
    if ((sql as string).length <= MAX_TEXT_LENGTH) this.#texts.set(sql, statements);
    return statements;
  }

  #run({ text, parameters }: BoundStatement): SqlTable {
    try {
      const result = this.#sql.execute(text, parameters);
      if (result.hasWritten) this.#wrote();
      return toTable(result);
    } catch (error) {
      throw sqlError(error, this.#activation);
    }
  }

  #atomically<T>(work: () => T): T {
    try {
      return this.#sql.atomically(work);
    } catch (error) {
      throw sqlError(error, this.#activation);
    }
  }

  // ---- one after the other -----------------------------------------------------------------------------------------

  /** Runs now, or once the transactions before it have ended. */
  #next<T>(run: () => T): T | Promise<T> {
    if (!this.#isHeld) return run();
    return new Promise((resolve, reject) => {
      const go = (): void => {
        try {
          resolve(run());
        } catch (error) {
          reject(error);
        }
      };
      this.#wait({ isTransaction: false, go, refuse: reject });
    });
  }

  async #alone<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isHeld || this.#waiting.length > 0)
      await new Promise<void>((resolve, reject) => this.#wait({ isTransaction: true, go: resolve, refuse: reject }));
    this.#isHeld = true;
    try {
      return await run();
    } finally {
      this.#release();
      this.#confirm();
    }
  }

  #wait(waiting: Waiting): void {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new ActorError(
        "sqlite",
        "transaction_queue_full",
        `${MAX_WAITING} transactions and statements wait for the one that is open`,
      );
    }
    this.#waiting.push(waiting);
  }

  /** The next call in line is admitted at once, so that no other overtakes it. */
  #release(): void {
    if (this.#waiting[0]?.isTransaction) return this.#waiting.shift()?.go();
    this.#isHeld = false;
    while (this.#waiting[0]?.isTransaction === false) this.#waiting.shift()?.go();
    for (const idle of this.#idle.splice(0)) idle();
    if (this.#waiting.length > 0) this.#goOnLater();
  }

  /**
   * Everything after a statement in its turn is stored with it. So the next transaction begins only after that turn, and
   * statements of that turn do not wait for it.
   */
  #goOnLater(): void {
    const { ports } = this.#activation;
    const goOn = (): void => {
      this.#isHeld = true;
      this.#waiting.shift()?.go();
    };
    ports.waitUntil(ports.yield().then(goOn));
  }

  #wrote(): void {
    this.writes += 1;
    this.#confirm();
  }

  // ---- activation --------------------------------------------------------------------------------------------------

  #check(): void {
    this.#activation.abortSignal.throwIfAborted();
    // Code of a failed start may still run.
    this.#start?.check();
    if (this.#isClosed) throw new ActorError("sqlite", "closed", "The database was closed with `db.close()`");
  }

  /** Writes that no event waits for are confirmed as well (COMMIT-7). */
  #confirm(): void {
    this.#isUnconfirmed = true;
    if (!this.#isConfirming) this.#activation.ports.waitUntil(this.#confirmAll());
  }

  async #confirmAll(): Promise<void> {
    this.#isConfirming = true;
    try {
      while (this.#isUnconfirmed) {
        this.#isUnconfirmed = false;
        await this.#activation.confirmed();
      }
    } catch {
      // The activation is lost; its users get that error.
    } finally {
      this.#isConfirming = false;
    }
  }
}

function timedOut(message: string): ActorError {
  return new ActorError("sqlite", "transaction_timed_out", message);
}

function interrupted(): ActorError {
  const message =
    "The transaction was undone, because the actor committed something else while it was open: a message, " +
    "`saveState`, `kv`, a call to another actor";
  return new ActorError("sqlite", "transaction_interrupted", message);
}
