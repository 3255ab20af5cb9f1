/**
 * The table `d/`: every deadline that can wake an actor, except those of workflow entries and the lease.
 *
 * Declares each kind of row once: its id, its fields, and the file that acts when it is due. Rows are not checked here.
 * A later release may have written one, so the file that acts on it handles one it cannot read. The alarm needs the
 * time of every row, also of unknown kinds.
 */
import { decodeRow, encodeValue, MAX_ROW_BYTES, own } from "../../protocol/index.js";
import { DirtySet } from "./dirty-set.js";
import { KEYS } from "./record.js";

/** Stored ids, one for each kind. A kind that ends with a slash has many rows, each with its own id after the slash. */
export const DEADLINE_IDS = {
  schedules: "at/",
  jobs: "cron/",
  replies: "reply/",
  recheck: "workflow",
  destroy: "destroy",
  idle: "idle",
  parts: "part/",
} as const;

export interface DeadlineRow {
  /** Epoch ms. */
  readonly at: number;
}

/** A scheduled action. */
export interface ScheduleRow extends DeadlineRow {
  /** The requested time, if `at` is later. */
  readonly askedAt?: number;
  readonly action: string;
  readonly args: Uint8Array;
  /** True while it runs. Written before it runs, but only after a cut-off. */
  readonly running?: boolean;
  /** How many starts found it running. */
  readonly interrupted?: number;
}

/** When a recurring job is due. */
export type Cadence =
  | { readonly kind: "cron"; readonly expression: string; readonly timezone: string }
  /** `interval` in ms; `anchor` is the start of its grid, epoch ms. */
  | { readonly kind: "every"; readonly interval: number; readonly anchor: number };

/** An occurrence of a recurring job that began. */
export interface CronRun {
  /** Its place in the job's history, counted from 0. */
  readonly number: number;
  readonly action: string;
  readonly scheduledAt: number;
  readonly firedAt: number;
  /** Set if it ended, whatever the history says. */
  readonly ended?: true;
}

/** A recurring job; `at` is its next occurrence. */
export interface CronJob extends DeadlineRow {
  readonly cadence: Cadence;
  readonly action: string;
  readonly args: Uint8Array;
  readonly maxHistory: number;
  /** Occurrences so far, skipped ones included: the number of the next one. */
  readonly occurrences: number;
  /**
   * The first occurrence in the history, if earlier ones were removed because the actor's jobs had too many together.
   */
  readonly keptFrom?: number;
  /** The last occurrence that began. The history says whether it ended; the row is not written for that. */
  readonly run?: CronRun;
  /** Occurrences in a row that were cut off. If there are any, the next one runs alone. */
  readonly interrupted?: number;
}

/** A reply to a sender that was not waiting at that moment, kept until the sender's timeout. */
export interface KeptReply extends DeadlineRow {
  /** When the message was sent, epoch ms. Tells apart two messages with the same id. */
  readonly createdAt: number;
  readonly reply: Uint8Array | undefined;
  /** The sender's, if it has one. */
  readonly token?: string;
}

/** A workflow whose code does not match its history. */
export interface RecheckRow extends DeadlineRow {
  /** The current delay in ms; the next is twice as long. */
  readonly delayMs: number;
  /** Describes the mismatch. */
  readonly message: string;
}

/** When an idle actor goes to sleep. */
export interface IdleRow extends DeadlineRow {
  /** How often `onSleep` was started for it. */
  readonly tries: number;
}

/** When a part must act, with the fields the part adds. */
export interface PartRow extends DeadlineRow {
  readonly [field: string]: unknown;
}

/** The table in memory. Changed rows join the dirty set. */
export class Deadlines {
  readonly #rows = new Map<string, DeadlineRow>();
  /** By schedule id. schedule/due-schedules.ts runs them. */
  readonly schedules: DeadlineRows<ScheduleRow>;
  /** By job name. schedule/due-jobs.ts runs them. */
  readonly jobs: DeadlineRows<CronJob>;
  /** By message id. queue/reply-waits.ts deletes them. */
  readonly replies: DeadlineRows<KeptReply>;
  /** activation/recheck.ts compares code and history again, so that a fixed deploy continues without a call. */
  readonly recheck: DeadlineSlot<RecheckRow>;
  /** Set while an actor is being destroyed. lifecycle/actor-life.ts continues the work. */
  readonly destroy: DeadlineSlot<DeadlineRow>;
  /** lifecycle/sleep.ts puts the actor to sleep. */
  readonly idle: DeadlineSlot<IdleRow>;
  /** By the names of the parts; lifecycle/parts.ts lets each act. */
  readonly parts: DeadlineRows<PartRow>;

  /** `changed` is called after every change. */
  constructor(dirty: DirtySet, changed: () => void) {
    const table = { rows: this.#rows, dirty, changed };
    this.schedules = new DeadlineRows(table, DEADLINE_IDS.schedules);
    this.jobs = new DeadlineRows(table, DEADLINE_IDS.jobs);
    this.replies = new DeadlineRows(table, DEADLINE_IDS.replies);
    this.recheck = new DeadlineSlot(table, DEADLINE_IDS.recheck);
    this.destroy = new DeadlineSlot(table, DEADLINE_IDS.destroy);
    this.idle = new DeadlineSlot(table, DEADLINE_IDS.idle);
    this.parts = new DeadlineRows(table, DEADLINE_IDS.parts);
  }

  /** Takes over the stored rows. Marks nothing as dirty. */
  load(stored: Iterable<readonly [key: string, bytes: Uint8Array]>): void {
    for (const [key, bytes] of stored)
      this.#rows.set(key.slice(KEYS.deadlines.length), decodeRow(bytes, 2) as DeadlineRow);
  }

  /** The times of all rows except one, epoch ms. */
  times(except?: DeadlineSlot<DeadlineRow>): number[] {
    return [...this.#rows].filter(([id]) => id !== except?.id).map(([, row]) => row.at);
  }
}

/** The table in these rows, for who only reads it. */
export function storedDeadlines(rows: Iterable<readonly [key: string, bytes: Uint8Array]>): Deadlines {
  const deadlines = new Deadlines(new DirtySet(), () => {});
  deadlines.load(rows);
  return deadlines;
}

interface Table {
  readonly rows: Map<string, DeadlineRow>;
  readonly dirty: DirtySet;
  readonly changed: () => void;
}

/** The rows of a kind with many rows. */
export class DeadlineRows<Row extends DeadlineRow> {
  readonly #table: Table;
  readonly #prefix: string;

  constructor(table: Table, prefix: string) {
    this.#table = table;
    this.#prefix = prefix;
  }

  get(id: string): Row | undefined {
    return this.#slot(id).get();
  }

  all(): [id: string, row: Row][] {
    return [...this.#table.rows]
      .filter(([id]) => id.startsWith(this.#prefix))
      .map(([id, row]) => [id.slice(this.#prefix.length), row as Row]);
  }

  put(id: string, row: Row): void {
    this.#slot(id).put(row);
  }

  delete(id: string): void {
    this.#slot(id).delete();
  }

  #slot(id: string): DeadlineSlot<Row> {
    return new DeadlineSlot(this.#table, this.#prefix + id);
  }
}

/** The row of a kind with at most one row. */
export class DeadlineSlot<Row extends DeadlineRow> {
  /** Its id in the table. */
  readonly id: string;
  readonly #table: Table;

  constructor(table: Table, id: string) {
    this.#table = table;
    this.id = id;
  }

  get key(): string {
    return KEYS.deadline(this.id);
  }

  get(): Row | undefined {
    return this.#table.rows.get(this.id) as Row | undefined;
  }

  put(members: Row): void {
    const row = own(members);
    this.#table.rows.set(this.id, row);
    this.#table.dirty.put(this.key, () => encodeValue(row, { what: "deadline", limitBytes: MAX_ROW_BYTES }));
    this.#table.changed();
  }

  delete(): void {
    if (!this.#table.rows.delete(this.id)) return;
    this.#table.dirty.delete(this.key);
    this.#table.changed();
  }
}
