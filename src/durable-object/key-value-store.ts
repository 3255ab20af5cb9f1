import { own } from "../protocol/index.js";
import type { Batch, ListOptions, SqlDatabase, Store, StoreActivation } from "../actor/index.js";
import { ObjectSql, OpenTransactions } from "./object-sql.js";

/**
 * The actor's store over the synchronous key-value API of a SQLite-backed object. Users' SQL can neither read nor
 * change it (COMMIT-11).
 *
 * A commit is one `transactionSync` with everything encoded beforehand: it rolls back as a whole when anything throws,
 * and all commits of one synchronous turn become durable together.
 */
export class KeyValueStore implements Store {
  readonly #storage: DurableObjectStorage;
  readonly #onAlarmFailure: (error: unknown) => void;
  readonly #transactions = new OpenTransactions();
  #current = 0;

  /** `onAlarmFailure` runs when the platform refuses a committed alarm; the object must then start again. */
  constructor(storage: DurableObjectStorage, onAlarmFailure: (error: unknown) => void) {
    this.#storage = storage;
    this.#onAlarmFailure = onAlarmFailure;
  }

  activate(): StoreActivation {
    this.#current += 1;
    const activation = this.#current;
    return new KeyValueActivation(
      this.#storage,
      this.#transactions,
      this.#onAlarmFailure,
      () => activation === this.#current,
    );
  }
}

class KeyValueActivation implements StoreActivation {
  readonly sql: SqlDatabase;
  readonly #storage: DurableObjectStorage;
  /** Read once: the platform makes another object at each access. */
  readonly #kv: DurableObjectStorage["kv"];
  readonly #transactions: OpenTransactions;
  readonly #onAlarmFailure: (error: unknown) => void;
  readonly #isCurrent: () => boolean;

  constructor(
    storage: DurableObjectStorage,
    transactions: OpenTransactions,
    onAlarmFailure: (error: unknown) => void,
    isCurrent: () => boolean,
  ) {
    this.sql = new ObjectSql(storage, () => this.#check(), transactions);
    this.#storage = storage;
    this.#kv = storage.kv;
    this.#transactions = transactions;
    this.#onAlarmFailure = onAlarmFailure;
    this.#isCurrent = isCurrent;
  }

  get isCurrent(): boolean {
    return this.#isCurrent();
  }

  get(key: string): Uint8Array | undefined {
    this.#check();
    return this.#kv.get<Uint8Array>(key);
  }

  /** Reads the platform's live list to its end, before anything can change it. */
  list(prefix: string, options?: ListOptions): Iterable<readonly [string, Uint8Array]> {
    this.#check();
    return [...this.#kv.list<Uint8Array>(own({ prefix, ...options }))];
  }

  commit(batch: Batch): void {
    this.#check();
    this.#transactions.undo();
    this.#storage.transactionSync(() => {
      for (const [key, bytes] of batch.puts) this.#kv.put(key, bytes);
      for (const key of batch.deletes) this.#kv.delete(key);
      if (batch.alarmAt !== undefined) this.#setAlarm(batch.alarmAt);
    });
  }

  getAlarm(): Promise<number | null> {
    this.#check();
    return this.#storage.getAlarm();
  }

  sync(): Promise<void> {
    return this.#storage.sync();
  }

  deleteAll(): Promise<void> {
    this.#check();
    return this.#storage.deleteAll();
  }

  #check(): void {
    if (!this.#isCurrent()) throw new Error("This activation is over; its commits are refused");
  }

  /** `setAlarm` never throws: for an invalid time it rejects, although the rows are committed. */
  #setAlarm(alarmAt: number | null): void {
    const set = alarmAt === null ? this.#storage.deleteAlarm() : this.#storage.setAlarm(alarmAt);
    set.catch(this.#onAlarmFailure);
  }
}
