import { WaitHeap } from "./history/wait-heap.js";

/** A deadline that lives in memory: a durable wait (its entry stores it) or the timeout of a running attempt. */
export interface Wait {
  readonly at: number;
  readonly seq: number;
  fire(): void;
}

/** A receive that waits: the first message that it may have, and how it takes it. */
export interface Receiver {
  readonly seq: number;
  /** `createdAt` of that message, epoch ms. */
  firstAt(): number | undefined;
  take(): void;
}

/** What of a run waits for a time or for a message, and which of it comes next. */
export class Waiting {
  readonly #now: () => number;
  readonly #waits = new WaitHeap<Wait>();
  readonly #receivers = new Set<Receiver>();
  #wantsPass = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * When a pass is to settle something, epoch ms: at the earliest deadline in memory, or at once if an operation began to wait
   * for a message that is there. (A long replay may come to its wait when the pass that its start began is over.)
   */
  get nextAt(): number | undefined {
    return this.#wantsPass ? this.#now() : this.#waits.first?.at;
  }

  /** A message is there that somebody waits for. */
  get wantsMessages(): boolean {
    for (const receiver of this.#receivers) if (receiver.firstAt() !== undefined) return true;
    return false;
  }

  addWait(wait: Wait): void {
    this.#waits.add(wait);
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

  clearWaits(): void {
    this.#waits.clear();
  }

  clear(): void {
    this.#waits.clear();
    this.#receivers.clear();
  }

  /** True when a wait is due that was to end before this time (epoch ms). */
  isDueBefore(time: number): boolean {
    const wait = this.#waits.first;
    return wait !== undefined && wait.at <= this.#now() && wait.at < time;
  }

  /** True when the first deadline is this very millisecond, and a message on its way in would come before it. */
  mayBeOvertaken(now: number): boolean {
    return this.#receivers.size > 0 && this.#waits.first?.at === now;
  }

  /** A pass has found nothing more. */
  passed(): void {
    this.#wantsPass = false;
  }

  /** What comes next of all that is due: messages before deadlines of the same time, then by entry (ALARM-6). */
  nextDue(): (() => void) | undefined {
    const wait = this.#waits.first;
    const deadline = wait && wait.at <= this.#now() ? wait : undefined;
    let first: { receiver: Receiver; at: number } | undefined;
    for (const receiver of this.#receivers) {
      const at = receiver.firstAt();
      if (at === undefined || (deadline && at > deadline.at)) continue;
      if (!first || at < first.at || (at === first.at && receiver.seq < first.receiver.seq)) first = { receiver, at };
    }
    if (first) return first.receiver.take.bind(first.receiver);
    if (!deadline) return undefined;
    return () => {
      this.#waits.delete(deadline);
      deadline.fire();
    };
  }
}
