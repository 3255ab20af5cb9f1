import type { MessageFilter, StoredMessage } from "../../workflow/index.js";
import type { Chain } from "./call-chain.js";

/** How long a sender's wait for a reply may end. */
export type ReplyResult =
  | { readonly status: "completed"; readonly reply: Uint8Array | undefined }
  | { readonly status: "timedOut" };

/** A sender who waits for a reply: how long, ms, and what it knows the wait by, if it may attach again. */
export interface SenderWait {
  readonly ms: number;
  readonly token?: string;
  /** Who waits for the reply, the sender last. */
  readonly chain?: Chain;
}

/** Which message's reply somebody waits for. */
export interface ReplyWait {
  readonly id: number;
  readonly createdAt: number;
  readonly token?: string;
}

/** The actor's queue as contexts and waits use it; `MessageQueue` is the one that exists. */
export interface ActorQueue {
  /** Checks a message and encodes it; nothing is written. */
  prepare(name: string, body: unknown): Uint8Array | Promise<Uint8Array>;
  take(filter: MessageFilter): StoredMessage[];
  /** As `take`, but the messages stay stored and visible. */
  peek(filter: MessageFilter): StoredMessage[];
  /** The chains of the messages that the workflow holds uncompleted. */
  heldChains(): Chain[];
  encodeReply(message: StoredMessage, response: unknown): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  complete(message: StoredMessage, reply: Uint8Array | undefined): void;
  /** @throws actor/aborted when a signal fires */
  awaitReply(wait: ReplyWait, timeoutMs: number, signals?: readonly AbortSignal[]): Promise<ReplyResult>;
}

/** One wait of an action or a run handler. */
export interface PlainReceive {
  readonly names: readonly string[] | undefined;
  readonly count: number;
  readonly hold: boolean;
  /** undefined: waits for ever; 0: a poll. */
  readonly timeoutMs: number | undefined;
  /** Any of them ends the wait. */
  readonly signals: readonly AbortSignal[];
  /** A run handler that only waits for messages leaves the object free to hibernate. */
  readonly isRunHandler: boolean;
}

export interface PlainReceivers {
  /** @throws actor/aborted, actor/restarting */
  receive(receive: PlainReceive): Promise<StoredMessage[]>;
  /** True if the run handler has asked for messages of this queue since the activation began. */
  runHandlerReceives(queue: string): boolean;
}
