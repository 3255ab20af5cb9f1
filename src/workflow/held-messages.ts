import { decodeValue, own, ownField } from "../protocol/index.js";
import type { Entry } from "./history/entry.js";
import type { MessagePort, StoredMessage } from "./ports.js";

/** What the entry of a completable receive keeps. */
export interface HoldData {
  readonly held: true;
  /** Ids of the completed messages. */
  readonly completed: readonly number[];
  /** Their replies, if their senders waited: one whose call breaks on the way of the answer asks again (MSG-6). */
  readonly replies?: readonly GivenReply[];
}

/** The reply that a message was completed with. */
export interface GivenReply {
  /** The message's id. */
  readonly id: number;
  readonly reply?: Uint8Array;
}

const NONE: HoldData = { held: true, completed: [] };
/** The most bytes of replies that an entry keeps: a start reads them with the history. */
const MAX_REPLIES_BYTES = 65_536;

/** What an entry keeps once a message of it is completed, at `now`. */
export function withCompleted(
  hold: HoldData | undefined,
  message: StoredMessage,
  reply: Uint8Array | undefined,
  now: number,
): HoldData {
  const { id, waitUntil } = own(message);
  const { completed, replies = [] } = own(hold ?? NONE);
  const done: HoldData = { held: true, completed: [...completed, id], ...(replies.length > 0 && { replies }) };
  const kept = replies.reduce((sum, each) => sum + (ownField(each, "reply")?.byteLength ?? 0), 0);
  if (waitUntil === undefined || waitUntil <= now || kept + (reply?.byteLength ?? 0) > MAX_REPLIES_BYTES) return done;
  return { ...done, replies: [...replies, { id, ...(reply && { reply }) }] };
}

export function holdOf(entry: Entry): HoldData | undefined {
  const data = entry.data as HoldData | undefined;
  // A receive that waits has other data.
  return data && ownField(data, "held") ? data : undefined;
}

/** The reply that a message of the entry was completed with, if the entry keeps it. */
export function givenReply(entry: Entry, id: number): GivenReply | undefined {
  const hold = holdOf(entry);
  const given = hold && ownField(hold, "replies")?.find((each) => each.id === id);
  return given && own(given);
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
