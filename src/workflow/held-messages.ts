import { decodeValue } from "../protocol/index.js";
import type { Entry } from "./history/entry.js";
import type { MessagePort, StoredMessage } from "./ports.js";

/** What a receive's entry keeps of completable messages. */
export interface HoldData {
  readonly held: true;
  /** Ids of those that were completed. */
  readonly completed: readonly number[];
}

export function holdOf(entry: Entry): HoldData | undefined {
  return (entry.data as HoldData | undefined)?.held ? (entry.data as HoldData) : undefined;
}

/** Messages that an entry took, held or not. */
export function takenMessages(entry: Entry): StoredMessage[] {
  return entry.status === "completed" && entry.value !== undefined ? (decodeValue(entry.value) as StoredMessage[]) : [];
}

/** Messages that an entry took and that are held, not completed. */
export function heldMessages(entry: Entry): StoredMessage[] {
  const hold = holdOf(entry);
  return hold ? takenMessages(entry).filter((message) => !hold.completed.includes(message.id)) : [];
}

/** Messages that an entry took and that were completed. */
export function completedMessages(entry: Entry): StoredMessage[] {
  const hold = holdOf(entry);
  return hold ? takenMessages(entry).filter((message) => hold.completed.includes(message.id)) : [];
}

/**
 * An entry's receive is over. What it holds uncompleted becomes visible again; with `undo`, what it took off the queue
 * goes back under its old id as well.
 */
export function releaseMessages(entry: Entry, messages: MessagePort, undo: boolean): void {
  if (holdOf(entry)) messages.putBack(heldMessages(entry), true);
  else if (undo) messages.putBack(takenMessages(entry), false);
}
