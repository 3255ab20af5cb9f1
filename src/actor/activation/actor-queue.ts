import type { MessageFilter, StoredMessage } from "../../workflow/index.js";
import type { Chain } from "./call-chain.js";

/** How a sender's wait for a reply ended. */
export type ReplyResult =
  | { readonly status: "completed"; readonly reply: Uint8Array | undefined }
  | { readonly status: "timedOut" };

/** A sender that waits for a reply. */
export interface SenderWait {
  /** How long it waits, in ms. */
  readonly ms: number;
  /** It will call `awaitReply` in this activation, so that a reply need not be stored for it. */
  readonly isAttached: boolean;
  /** Identifies the wait to a sender that attaches again. */
  readonly token?: string;
  /** Everyone who waits for the reply, the sender last. */
  readonly chain?: Chain;
}

/** The message whose reply is awaited. */
export interface ReplyWait {
  readonly id: number;
  readonly createdAt: number;
  readonly token?: string;
}

/** A stored message, or one whose reply is kept, that its sender has found again. */
export interface FoundMessage {
  readonly id: number;
  readonly createdAt: number;
  /** Epoch ms. */
  readonly waitUntil: number;
}

/** The actor's queue, as contexts and waits use it. Implemented by `MessageQueue`. */
export interface ActorQueue {
  /** Checks and encodes a message. Writes nothing. */
  prepare(name: string, body: unknown): Uint8Array | Promise<Uint8Array>;
  take(filter: MessageFilter): StoredMessage[];
  /** Like `take`, but the messages stay stored and visible. */
  peek(filter: MessageFilter): StoredMessage[];
  /** The call chains of the messages that the workflow holds and has not completed. */
  heldChains(): Chain[];
  encodeReply(message: StoredMessage, response: unknown): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  complete(message: StoredMessage, reply: Uint8Array | undefined): void;
  /** The message that a waiting send with this token has stored, while a wait for its reply has a point. */
  findSent(token: string): FoundMessage | undefined;
  /** @throws {actor/aborted} when a signal aborts */
  awaitReply(wait: ReplyWait, timeoutMs: number, signals?: readonly AbortSignal[]): Promise<ReplyResult>;
}

/** One wait of an action or a run handler for messages. */
export interface PlainReceive {
  readonly names: readonly string[] | undefined;
  readonly count: number;
  readonly hold: boolean;
  /** In ms. Undefined waits forever; 0 polls. */
  readonly timeoutMs: number | undefined;
  /** Each of them ends the wait. */
  readonly signals: readonly AbortSignal[];
  /** True for a run handler. While it waits for messages, the object may hibernate. */
  readonly isRunHandler: boolean;
}

export interface PlainReceivers {
  /**
   * @throws {actor/aborted} when a signal aborts
   * @throws {actor/restarting} when the activation is lost
   */
  receive(receive: PlainReceive): Promise<StoredMessage[]>;
  /** Whether the run handler has waited for messages of this queue in this activation. */
  runHandlerReceives(queue: string): boolean;
}
