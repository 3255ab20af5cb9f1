import { ActorError, decodeValue } from "../../protocol/index.js";
import { decodeMessage } from "../queue/message-row.js";
import { KEYS } from "../storage/record.js";
import type { InspectedActor } from "./inspected-actor.js";
import { pageOf, type ListPage } from "./paging.js";

/** A stored message without its body. Times in epoch ms. */
export interface InspectedMessage {
  readonly id: number;
  readonly queue: string;
  readonly createdAt: number;
  /** Bytes of the body. */
  readonly size: number;
  /** Until when its sender waits for a reply. */
  readonly waitUntil?: number;
}

export interface InspectedQueue extends ListPage<InspectedMessage> {
  /** The number of all stored messages, those that the workflow holds included. */
  readonly size: number;
  readonly maxSize?: number;
}

/** A page of the stored messages, oldest first. */
export function queueOf(
  { rows, definition }: InspectedActor,
  asked: { readonly from?: string; readonly limit?: number },
): InspectedQueue {
  const messages: InspectedMessage[] = [];
  for (const [key, bytes] of rows.list(KEYS.messages)) {
    const { id, name, createdAt, waitUntil, body } = decodeMessage(Number(key.slice(KEYS.messages.length)), bytes);
    messages.push({ id, queue: name, createdAt, size: body.byteLength, ...(waitUntil !== undefined && { waitUntil }) });
  }
  messages.sort((a, b) => a.id - b.id);
  const maxSize = definition?.options.maxQueueSize;
  return {
    size: messages.length,
    ...(maxSize !== undefined && { maxSize }),
    ...pageOf(messages, ({ id }) => id, asked),
  };
}

/** One message with its body. @throws {inspector/not_found} when it is no longer stored */
export function messageOf({ rows }: InspectedActor, id: string): InspectedMessage & { readonly body: unknown } {
  const number = /^\d{1,15}$/.test(id) ? Number(id) : Number.NaN;
  const bytes = rows.get(KEYS.message(number));
  if (!bytes) throw new ActorError("inspector", "not_found", "The message is not stored: it has been taken or deleted");
  const { name, createdAt, body } = decodeMessage(number, bytes);
  return { id: number, queue: name, createdAt, size: body.byteLength, body: decodeValue(body) };
}
