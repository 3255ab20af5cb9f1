import { decodeRow, encodeValue, own } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { CronJob } from "../storage/deadlines.js";
import type { CronHistoryEntry } from "../api/schedule-types.js";
import { KEYS } from "../storage/record.js";

/** An entry and its number in the job's history. */
export interface NumberedEntry {
  readonly number: number;
  readonly entry: CronHistoryEntry;
}

/** Entries in one row. Adding one is one billed write, whatever the row's size; deleting the row is one more. */
const PAGE = 20;

/** The rows of the activation. */
export type HistoryRows = Pick<ActorActivation, "read" | "put" | "delete">;

/**
 * The results of a job's occurrences, in rows `h/<page>/<name>` of up to 20 entries: recording one costs one row, and
 * removing old ones a twentieth of a row. An entry's number gives its page; the job's row says which numbers are kept.
 */
export class CronHistory {
  readonly #rows: HistoryRows;

  constructor(rows: HistoryRows) {
    this.#rows = rows;
  }

  put(name: string, job: CronJob, number: number, entry: CronHistoryEntry): void {
    const first = keptFrom(job);
    if (number < first) return;
    const others = this.#page(name, pageOf(number)).filter((each) => each.number >= first && each.number !== number);
    const page = [...others, { number, entry }].sort((a, b) => a.number - b.number);
    this.#rows.put(KEYS.cronHistory(pageOf(number), name), () => encodeValue(page));
  }

  has(name: string, number: number): boolean {
    return this.#page(name, pageOf(number)).some((each) => each.number === number);
  }

  /** Newest first. */
  read(name: string, job: CronJob, limit: number): NumberedEntry[] {
    const first = keptFrom(job);
    const found: NumberedEntry[] = [];
    for (let page = pageOf(job.occurrences - 1); page >= pageOf(first) && found.length < limit; page -= 1) {
      for (const each of this.#page(name, page).reverse()) if (each.number >= first) found.push(each);
    }
    return found.slice(0, limit);
  }

  /** Call when a job's row is changed or deleted: deletes the pages it no longer keeps. */
  prune(name: string, before: CronJob, after?: CronJob): void {
    if (!(keptCount(before) > 0)) return;
    const end = after && keptCount(after) > 0 ? pageOf(keptFrom(after)) : pageOf(before.occurrences - 1) + 1;
    for (let page = pageOf(keptFrom(before)); page < end; page += 1) this.#rows.delete(KEYS.cronHistory(page, name));
  }

  #page(name: string, page: number): NumberedEntry[] {
    const bytes = this.#rows.read(KEYS.cronHistory(page, name));
    return bytes ? (decodeRow(bytes, 2) as NumberedEntry[]) : [];
  }
}

/** The number of the oldest occurrence in the history. */
export function keptFrom(job: CronJob): number {
  const { keptFrom: trimmed = 0, occurrences, maxHistory } = own(job);
  return Math.max(trimmed, occurrences - maxHistory);
}

export function keptCount(job: CronJob): number {
  return job.occurrences - keptFrom(job);
}

/** The job without its oldest page of history. */
export function withoutOldestPage(job: CronJob): CronJob {
  return { ...job, keptFrom: Math.min(job.occurrences, (pageOf(keptFrom(job)) + 1) * PAGE) };
}

function pageOf(number: number): number {
  return Math.floor(number / PAGE);
}
