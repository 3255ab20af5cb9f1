/**
 * The table `d/`: what can wake an actor, beside the deadlines of its workflow's entries and the lease.
 *
 * Each kind of row is declared once, here: where it stands, what is in it, and who acts when it is due. Whoever acts reads
 * its rows as they are: one that it cannot read is its own to handle, since a later release may have written it. The alarm
 * needs the time of every row, those of unknown kinds included.
 */
import { decodeRow, encodeValue, MAX_ROW_BYTES, own } from "../../protocol/index.js";
import type { DirtySet } from "./dirty-set.js";
import { KEYS } from "./record.js";

/** Where the kinds stand, as it is stored. With a slash there are many rows, each under its id. */
export const DEADLINE_IDS = {
  schedules: "at/",
  jobs: "cron/",
  replies: "reply/",
  recheck: "workflow",
  destroy: "destroy",
  idle: "idle",
} as const;

export interface DeadlineRow {
  /** Epoch ms. */
  readonly at: number;
}

/** A scheduled action. */
export interface ScheduleRow extends DeadlineRow {
  /** The time that was asked for, where `at` is a later one. */
  readonly askedAt?: number;
  readonly action: string;
  readonly args: Uint8Array;
  /** It runs: written before it does only if the object was cut off before. */
  readonly running?: boolean;
  /** How often it was found running by a start. */
  readonly interrupted?: number;
}

/** When a recurring job comes due. */
export type Cadence =
  | { readonly kind: "cron"; readonly expression: string; readonly timezone: string }
  /** `anchor`, epoch ms: where its grid begins. */
  | { readonly kind: "every"; readonly interval: number; readonly anchor: number };

/** One occurrence of a recurring job that began. */
export interface CronRun {
  /** Its place in the job's history, counted from 0. */
  readonly number: number;
  readonly action: string;
  readonly scheduledAt: number;
  readonly firedAt: number;
  /** It has ended, whatever the history says. */
  readonly ended?: true;
}

/** A recurring job; `at` is its next time. */
export interface CronJob extends DeadlineRow {
  readonly cadence: Cadence;
  readonly action: string;
  readonly args: Uint8Array;
  readonly maxHistory: number;
  /** How many occurrences it has had, skipped ones included: the number of the next one. */
  readonly occurrences: number;
  /** Occurrences before this one left the history because the actor had too many of all jobs together. */
  readonly keptFrom?: number;
  /** The last one that began. It has ended if the history says so; this row is not written for that. */
  readonly run?: CronRun;
  /** How many of them in a row were cut off: more than none, and it runs when nobody else does. */
  readonly interrupted?: number;
}

/** A reply that was given while its sender was away, kept until the sender's wait is over. */
export interface KeptReply extends DeadlineRow {
  /** When its message was sent: it tells two messages of one id apart. */
  readonly createdAt: number;
  readonly reply: Uint8Array | undefined;
}

/** A workflow whose code does not match its history. */
export interface RecheckRow extends DeadlineRow {
  /** How long it waits now; the next time twice as long. */
  readonly delayMs: number;
  /** What did not match. */
  readonly message: string;
}

/** When an idle actor goes to sleep. */
export interface IdleRow extends DeadlineRow {
  /** How often `onSleep` was begun for it. */
  readonly tries: number;
}

/** The table in memory; what changes joins the dirty set. */
export class Deadlines {
  readonly #rows = new Map<string, DeadlineRow>();
  /** By their ids; schedule/due-schedules.ts runs them. */
  readonly schedules: DeadlineRows<ScheduleRow>;
  /** By their names; schedule/due-jobs.ts runs them. */
  readonly jobs: DeadlineRows<CronJob>;
  /** By the ids of their messages; queue/reply-waits.ts forgets them. */
  readonly replies: DeadlineRows<KeptReply>;
  /** workflow/workflow-driver.ts looks at the code again: a fixed deploy goes on by itself. */
  readonly recheck: DeadlineSlot<RecheckRow>;
  /** Of an actor that is marked as destroyed, until nothing of it is left; lifecycle/actor-life.ts goes on with it. */
  readonly destroy: DeadlineSlot<DeadlineRow>;
  /** lifecycle/sleep.ts lets the actor sleep. */
  readonly idle: DeadlineSlot<IdleRow>;

  /** `changed` is told of every change. */
  constructor(dirty: DirtySet, changed: () => void) {
    const table = { rows: this.#rows, dirty, changed };
    this.schedules = new DeadlineRows(table, DEADLINE_IDS.schedules);
    this.jobs = new DeadlineRows(table, DEADLINE_IDS.jobs);
    this.replies = new DeadlineRows(table, DEADLINE_IDS.replies);
    this.recheck = new DeadlineSlot(table, DEADLINE_IDS.recheck);
    this.destroy = new DeadlineSlot(table, DEADLINE_IDS.destroy);
    this.idle = new DeadlineSlot(table, DEADLINE_IDS.idle);
  }

  /** What is stored: nothing is dirty because of it. */
  load(stored: Iterable<readonly [key: string, bytes: Uint8Array]>): void {
    for (const [key, bytes] of stored)
      this.#rows.set(key.slice(KEYS.deadlines.length), decodeRow(bytes, 2) as DeadlineRow);
  }

  /** The times of all rows, `but` one: epoch ms. */
  times(but?: DeadlineSlot<DeadlineRow>): number[] {
    return [...this.#rows].filter(([id]) => id !== but?.id).map(([, row]) => row.at);
  }
}

interface Table {
  readonly rows: Map<string, DeadlineRow>;
  readonly dirty: DirtySet;
  readonly changed: () => void;
}

/** The rows of a kind that has many. */
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

/** The row of a kind that has one at most. */
export class DeadlineSlot<Row extends DeadlineRow> {
  /** Where it stands in the table. */
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
