import { own } from "../protocol/index.js";
import type { Batch, ListOptions, SqlDatabase, Store, StoreActivation } from "../actor/ports.js";
import { MemorySql, type SqliteDatabase } from "./memory-sql.js";

/** What a store may do at a commit, besides making it. `number` is 1-based and counts over all activations. */
export type CommitFault = (number: number) => "crash-before" | "crash-after" | "refuse" | undefined;

export interface MemoryStoreOptions {
  /** Runs a function in the next turn of the event loop: what was committed until then becomes durable. */
  readonly nextTurn: (run: () => void) => void;
  readonly fault?: CommitFault;
  /** Makes an empty database for users' SQL: `() => new DatabaseSync(":memory:")` of `node:sqlite`. Without it there is none. */
  readonly openDatabase?: (() => SqliteDatabase) | undefined;
  /** Asked at each `deleteAll`, which is all or nothing as well. */
  readonly deleteFault?: () => ReturnType<CommitFault>;
  /** Sees what every commit leaves behind, before anything else can happen. */
  readonly onCommit?: (rows: ReadonlyMap<string, Uint8Array>, alarmAt: number | null) => void;
  /** Sees what has become durable: at the end of each turn that wrote, and when everything was deleted. */
  readonly onDurable?: (rows: ReadonlyMap<string, Uint8Array>, alarmAt: number | null) => void;
  /** Called when a fault has ended the process that used the store. */
  readonly onCrash?: () => void;
}

/** Thrown inside a commit at which the process dies. Nothing may catch it and go on. */
export class CrashError extends Error {
  override readonly name = "CrashError";
}

/**
 * A store in memory that behaves as the platform's was measured to: all commits of one synchronous turn (microtasks
 * included) become durable together when the turn ends, and a crash before that loses all of them.
 */
export class MemoryStore implements Store {
  readonly #options: MemoryStoreOptions;
  readonly #sql: MemorySql | undefined;
  #durable = new Map<string, Uint8Array<ArrayBuffer>>();
  #visible = new Map<string, Uint8Array<ArrayBuffer>>();
  #durableAlarm: number | null = null;
  #visibleAlarm: number | null = null;
  #generation = 0;
  /** Counts deaths of the process: activations of one life share its turns. */
  #life = 0;
  #turnOpen = false;
  /** Whether rows of the actor's own were written in the turn. */
  #hasCommitted = false;
  #dieAtTurnEnd = false;
  #loseTurn = false;
  #waiting: (() => void)[] = [];
  #commits = 0;
  #rows = 0;
  #alarmWrites = 0;
  #alarmChanges = 0;
  fault: CommitFault | undefined;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.fault = options.fault;
    const { openDatabase, nextTurn } = options;
    this.#sql =
      openDatabase &&
      new MemorySql(openDatabase, {
        open: () => this.#openTurn(false),
        next: () => new Promise(nextTurn),
        broken: () => this.crash(),
      });
  }

  activate(): StoreActivation {
    this.#generation += 1;
    return new MemoryActivation(this, this.#generation);
  }

  // ---- what tests look at ------------------------------------------------------------------------------------------

  get commits(): number {
    return this.#commits;
  }
  /** Rows put or deleted; alarm writes are counted apart. */
  get rows(): number {
    return this.#rows;
  }
  get alarmWrites(): number {
    return this.#alarmWrites;
  }
  /** How often the durable alarm was set or taken away. */
  get alarmChanges(): number {
    return this.#alarmChanges;
  }
  /** The alarm as the platform would fire it. */
  get alarmAt(): number | null {
    return this.#durableAlarm;
  }
  get keys(): string[] {
    return [...this.#durable.keys()].sort();
  }
  /** A copy of everything durable. */
  dump(): Map<string, Uint8Array<ArrayBuffer>> {
    return new Map(this.#durable);
  }
  restore(rows: ReadonlyMap<string, Uint8Array<ArrayBuffer>>, alarmAt: number | null = null): void {
    this.#durable = new Map(rows);
    this.#durableAlarm = alarmAt;
    this.#reset();
  }

  /** Resolves when no transaction of users' SQL is open or asked for; undefined if none is. */
  transactionsEnd(): Promise<void> | undefined {
    return this.#sql?.isBusy ? this.#sql.idle() : undefined;
  }

  // ---- what the world does to it -----------------------------------------------------------------------------------

  /** The process dies now: what its last turn wrote is lost. */
  crash(): void {
    this.#generation += 1;
    this.#reset();
    this.#options.onCrash?.();
  }

  /** The process dies within this turn: its code runs to the end of it, and all that it writes is lost. */
  crashWithTurn(): void {
    this.#loseTurn = true;
    this.#openTurn(false);
  }

  /** Resolves when what was written so far is durable, or the process has died: nothing leaves before (the output gate). */
  outputGate(): Promise<void> {
    if (!this.#turnOpen) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * `alarm()` begins: the alarm is gone for whoever looks, but comes again if the process dies before it is replaced. One
   * that this turn has replaced already stays: the platform delivers an alarm only if it is still the one that is set.
   */
  beginAlarm(): void {
    if (!this.#alarmTouched) this.#visibleAlarm = null;
  }

  /** `alarm()` returned: what it did not replace is gone. */
  endAlarm(): void {
    if (this.#visibleAlarm === null) this.#durableAlarm = null;
  }

  setAlarm(at: number | null): void {
    this.#alarmChanges += 1;
    this.#durableAlarm = at;
    this.#visibleAlarm = at;
  }

  isCurrent(generation: number): boolean {
    return generation === this.#generation;
  }

  /** The users' SQL for one activation. */
  sql(generation: number): SqlDatabase | undefined {
    return this.#sql?.activate(() => this.#check(generation));
  }

  // ---- used by activations -----------------------------------------------------------------------------------------

  read(generation: number): {
    readonly rows: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
    readonly alarmAt: number | null;
  } {
    this.#check(generation);
    return { rows: this.#visible, alarmAt: this.#visibleAlarm };
  }

  write(generation: number, batch: Batch): void {
    this.#check(generation);
    this.#sql?.undo();
    const fault = this.#nextCommit();
    this.#hasCommitted = true;
    if (fault === "refuse") throw new Error("The store refuses this write");
    if (fault === "crash-before") {
      this.crash();
      throw new CrashError("The process died before this commit");
    }
    // Everything is looked at before anything is written: a batch is all or nothing.
    for (const [key, bytes] of batch.puts) {
      if (bytes.byteLength !== bytes.buffer.byteLength)
        throw new Error(`The value of ${key} is a view of a larger buffer`);
    }
    for (const [key, bytes] of batch.puts) this.#visible.set(key, bytes.slice());
    for (const key of batch.deletes) this.#visible.delete(key);
    this.#rows += batch.puts.size + batch.deletes.size;
    if (batch.alarmAt !== undefined) {
      this.#visibleAlarm = batch.alarmAt;
      this.#alarmWrites += 1;
    }
    this.#options.onCommit?.(this.#visible, this.#visibleAlarm);
    if (fault === "crash-after") this.#dieAtTurnEnd = true;
    this.#openTurn(batch.alarmAt !== undefined);
  }

  /** Resolves when everything committed so far is durable: the output gate, and `sync`. */
  confirm(generation: number): Promise<void> {
    this.#check(generation);
    if (!this.#turnOpen) return Promise.resolve();
    const life = this.#life;
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        if (life === this.#life) resolve();
        else reject(new CrashError("The process died"));
      });
    });
  }

  deleteAll(generation: number): void {
    this.#check(generation);
    const fault = this.#options.deleteFault?.();
    if (fault === "refuse") throw new Error("The store refuses to delete");
    if (fault !== "crash-before") {
      this.#sql?.deleteAll();
      this.#visible = new Map();
      this.#durable = new Map();
      this.#visibleAlarm = null;
      this.setAlarm(null);
      this.#options.onDurable?.(this.#durable, null);
    }
    if (fault) {
      this.crash();
      throw new CrashError("The process died as it deleted everything");
    }
  }

  #alarmTouched = false;

  #openTurn(alarmTouched: boolean): void {
    this.#alarmTouched ||= alarmTouched;
    if (this.#turnOpen) return;
    this.#turnOpen = true;
    const life = this.#life;
    this.#options.nextTurn(() => {
      if (life !== this.#life) return;
      if (this.#sql?.hasWritten && !this.#hasCommitted) this.#commitSql();
      if (this.#loseTurn || this.#sql?.endTurn() === false) return this.crash();
      this.#durable = new Map(this.#visible);
      if (this.#alarmTouched) {
        this.#durableAlarm = this.#visibleAlarm;
        this.#alarmChanges += 1;
      }
      this.#alarmTouched = false;
      this.#turnOpen = false;
      this.#hasCommitted = false;
      this.#options.onDurable?.(this.#durable, this.#durableAlarm);
      if (this.#dieAtTurnEnd) {
        this.#dieAtTurnEnd = false;
        this.crash();
        return;
      }
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const each of waiting) each();
    });
  }

  #nextCommit(): ReturnType<CommitFault> {
    this.#commits += 1;
    return this.fault?.(this.#commits);
  }

  /** A turn that wrote by SQL alone ends: it is a commit like any other, which can be lost. */
  #commitSql(): void {
    const fault = this.#nextCommit();
    if (fault === "crash-before" || fault === "refuse") this.#loseTurn = true;
    else this.#options.onCommit?.(this.#visible, this.#visibleAlarm);
    if (fault === "crash-after") this.#dieAtTurnEnd = true;
  }

  #reset(): void {
    this.#life += 1;
    this.#sql?.crash();
    this.#visible = new Map(this.#durable);
    this.#visibleAlarm = this.#durableAlarm;
    this.#turnOpen = false;
    this.#dieAtTurnEnd = false;
    this.#loseTurn = false;
    this.#hasCommitted = false;
    this.#alarmTouched = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) each();
  }

  #check(generation: number): void {
    if (generation !== this.#generation) throw new CrashError("This activation is over; its commits are refused");
  }
}

class MemoryActivation implements StoreActivation {
  declare readonly sql?: SqlDatabase;
  readonly #store: MemoryStore;
  readonly #generation: number;

  constructor(store: MemoryStore, generation: number) {
    const sql = store.sql(generation);
    if (sql) this.sql = sql;
    this.#store = store;
    this.#generation = generation;
  }

  get isCurrent(): boolean {
    return this.#store.isCurrent(this.#generation);
  }

  get(key: string): Uint8Array | undefined {
    return this.#store.read(this.#generation).rows.get(key)?.slice();
  }

  list(prefix: string, options?: ListOptions): Iterable<readonly [string, Uint8Array]> {
    const { start = "", end, limit = Infinity, reverse = false } = own(options);
    const { rows } = this.#store.read(this.#generation);
    return [...rows]
      .filter(([key]) => key.startsWith(prefix) && key >= start && (end === undefined || key < end))
      .sort(([a], [b]) => (a < b ? -1 : 1) * (reverse ? -1 : 1))
      .slice(0, limit)
      .map(([key, bytes]) => [key, bytes.slice()] as const);
  }

  commit(batch: Batch): void {
    this.#store.write(this.#generation, batch);
  }

  async getAlarm(): Promise<number | null> {
    return this.#store.read(this.#generation).alarmAt;
  }

  async sync(): Promise<void> {
    return this.#store.confirm(this.#generation);
  }

  async deleteAll(): Promise<void> {
    this.#store.deleteAll(this.#generation);
  }
}
