import type { Entry } from "./history/entry.js";
import { WaitHeap } from "./history/wait-heap.js";

/** A deadline held in memory: of a durable wait, whose entry stores it, or the timeout of a running attempt. */
export interface Wait {
  at: number;
  readonly seq: number;
  /** The timeout of an attempt, which counts for a paused run as well. */
  readonly isOfAttempt?: true;
  /** The entry of the step that waits for its next attempt. */
  readonly retryOf?: Entry;
  /** Completes that step with a value instead. */
  skip?(value: Uint8Array): void;
  fire(): void;
}

/** A receive that waits for a message. */
export interface Receiver {
  readonly seq: number;
  /** `createdAt` of the first message that it may take, epoch ms. */
  firstAt(): number | undefined;
  take(): void;
}

/** The waits and receives of a run, and which of them is due next. */
export class Waiting {
  readonly #now: () => number;
  readonly #waits = new WaitHeap<Wait>();
  readonly #receivers = new Set<Receiver>();
  #wantsPass = false;
  #isPaused = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * When the next pass is due, epoch ms: at the earliest deadline in memory, or at once if an operation started to wait for a
   * message that has arrived. (A long replay may reach its wait after the pass of its start has ended.)
   */
  get nextAt(): number | undefined {
    return this.#wantsPass ? this.#now() : this.#waits.first?.at;
  }

  /** True when a receive waits for a message that has arrived. */
  get wantsMessages(): boolean {
    for (const receiver of this.#receivers) if (receiver.firstAt() !== undefined) return true;
    return false;
  }

  addWait(wait: Wait): void {
    if (!this.#isPaused || wait.isOfAttempt) this.#waits.add(wait);
  }

  removeWait(wait: Wait): void {
    this.#waits.delete(wait);
  }

  addReceiver(receiver: Receiver): void {
    this.#receivers.add(receiver);
    if (receiver.firstAt() !== undefined) this.#wantsPass = true;
  }

  removeReceiver(receiver: Receiver): void {
    this.#receivers.delete(receiver);
  }

  /** The run is being paused: of its waits, only the timeouts of attempts stay. */
  pause(): void {
    this.#isPaused = true;
    this.#wantsPass = false;
    this.#receivers.clear();
    for (const wait of this.#waits.all) if (!wait.isOfAttempt) this.#waits.delete(wait);
  }

  /** Makes attempts that wait for their backoff due now, epoch ms. Returns their entries. */
  hurry(now: number): Entry[] {
    const hurried: Entry[] = [];
    for (const wait of this.#waits.all) {
      if (!wait.retryOf || wait.at <= now) continue;
      wait.at = now;
      hurried.push(wait.retryOf);
    }
    this.#waits.reorder();
    return hurried;
  }

  /** How a step is completed that waits for its next attempt. */
  retryOf(entry: Entry): Wait | undefined {
    return this.#waits.all.find((wait) => wait.retryOf === entry);
  }

  clearWaits(): void {
    this.#waits.clear();
  }

  clear(): void {
    this.#waits.clear();
    this.#receivers.clear();
  }

  /** True when a wait is due with a deadline before this time (epoch ms). */
  isDueBefore(time: number): boolean {
    const wait = this.#waits.first;
    return wait !== undefined && wait.at <= this.#now() && wait.at < time;
  }

  /** True when the first deadline is this very millisecond: a message that is still arriving would go first. */
  mayBeOvertaken(now: number): boolean {
    return this.#receivers.size > 0 && this.#waits.first?.at === now;
  }

  /** A pass found nothing more to settle. */
  passed(): void {
    this.#wantsPass = false;
  }

  /** Settles the next due wait or receive: a message goes before a deadline of the same time, then by `seq` (ALARM-6). */
  nextDue(): (() => void) | undefined {
    const deadline = this.#dueWait();
    const receive = this.#dueReceive(deadline);
    if (receive || !deadline) return receive;
    return () => {
      this.#waits.delete(deadline);
      deadline.fire();
    };
  }

  /** The same if it is a receive that is next. */
  nextReceive(): (() => void) | undefined {
    return this.#receivers.size > 0 ? this.#dueReceive(this.#dueWait()) : undefined;
  }

  #dueWait(): Wait | undefined {
    const wait = this.#waits.first;
    return wait && wait.at <= this.#now() ? wait : undefined;
  }

  #dueReceive(deadline: Wait | undefined): (() => void) | undefined {
    let first: { receiver: Receiver; at: number } | undefined;
    for (const receiver of this.#receivers) {
      const at = receiver.firstAt();
      if (at === undefined || (deadline && at > deadline.at)) continue;
      if (!first || at < first.at || (at === first.at && receiver.seq < first.receiver.seq)) first = { receiver, at };
    }
    return first && first.receiver.take.bind(first.receiver);
  }
}
