import { decodeValue } from "../protocol/index.js";
import type { Entry } from "./history/entry.js";
import type { MessagePort, StoredMessage } from "./ports.js";

/** What the entry of a completable receive keeps. */
export interface HoldData {
  readonly held: true;
  /** Ids of the completed messages. */
  readonly completed: readonly number[];
}

export function holdOf(entry: Entry): HoldData | undefined {
  return (entry.data as HoldData | undefined)?.held ? (entry.data as HoldData) : undefined;
}

/** Messages that an entry took, held or not. */
export function takenMessages(entry: Entry): StoredMessage[] {
  return entry.status === "completed" && entry.value !== undefined ? (decodeValue(entry.value) as StoredMessage[]) : [];
}

/** Messages that an entry took, holds and has not completed. */
export function heldMessages(entry: Entry): StoredMessage[] {
  const hold = holdOf(entry);
  return hold ? takenMessages(entry).filter((message) => !hold.completed.includes(message.id)) : [];
}

/** Messages that an entry took and completed. */
export function completedMessages(entry: Entry): StoredMessage[] {
  const hold = holdOf(entry);
  return hold ? takenMessages(entry).filter((message) => hold.completed.includes(message.id)) : [];
}

/**
 * Makes the uncompleted messages of a removed entry visible again; with `undo`, puts the messages it took off the queue
 * back under their old ids as well.
 */
export function releaseMessages(entry: Entry, messages: MessagePort, undo: boolean): void {
  if (holdOf(entry)) messages.putBack(heldMessages(entry), true);
  else if (undo) messages.putBack(takenMessages(entry), false);
}
