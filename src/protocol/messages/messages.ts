import type { ErrorData } from "../errors/errors.js";

/** The three ways in which the same messages are written. `json` is the one that a person can type. */
export type Encoding = "json" | "cbor" | "bare";

/** Whether `text` (a header, a subprotocol) names an encoding. */
export function isEncoding(text: unknown): text is Encoding {
  return text === "json" || text === "cbor" || text === "bare";
}

/** A call of an action over HTTP; its name is in the path. */
export interface ActionRequest {
  args: unknown[];
}

/** What an action returned. */
export interface ActionResponse {
  output: unknown;
}

/** A message for a queue. `name` repeats the path's. */
export interface QueueSendRequest {
  body: unknown;
  name?: string;
  /** Whether to answer only when the message is completed. */
  wait?: boolean;
  /** Milliseconds to wait at most. */
  timeout?: number;
}

/** The answer to a send: at once, or with `wait` after completion or timeout. */
export interface QueueSendResponse {
  status: "completed" | "timedOut";
  response?: unknown;
}

/** The answer to a question for an actor's id. */
export interface ResolveResponse {
  actorId: string;
}

/** What a client sends through a connection. Ids are its own, unsigned and of 64 bits. */
export type ToServer =
  | { tag: "ActionRequest"; val: { id: bigint; name: string; args: unknown[] } }
  | { tag: "SubscriptionRequest"; val: { eventName: string; subscribe: boolean } };

/** An error as it crosses a connection: of one action, or of the connection if `actionId` is null. */
export interface ToClientError extends ErrorData {
  actionId: bigint | null;
}

/** What a connection sends to its client. */
export type ToClient =
  | { tag: "Init"; val: { actorId: string; connectionId: string } }
  | { tag: "Error"; val: ToClientError }
  | { tag: "ActionResponse"; val: { id: bigint; output: unknown } }
  | { tag: "Event"; val: { name: string; args: unknown[] } };
