import type { ErrorData } from "../errors/errors.js";

/** The encodings of messages. `json` is the one that people can type. */
export type Encoding = "json" | "cbor" | "bare";

/** Whether `text` (a header, a subprotocol) is the name of an encoding. */
export function isEncoding(text: unknown): text is Encoding {
  return text === "json" || text === "cbor" || text === "bare";
}

/** An action call over HTTP; the path has the action's name. */
export interface ActionRequest {
  args: unknown[];
}

/** The result of an action. */
export interface ActionResponse {
  output: unknown;
}

/** A message for a queue. `name` repeats the one in the path. */
export interface QueueSendRequest {
  body: unknown;
  name?: string;
  /** Whether to respond only when the message is completed. */
  wait?: boolean;
  /** The longest wait, in ms. */
  timeout?: number;
}

/** The response to a send: at once, or with `wait` after completion or timeout. */
export interface QueueSendResponse {
  status: "completed" | "timedOut";
  response?: unknown;
}

/** The response to a request for an actor's id. */
export interface ResolveResponse {
  actorId: string;
}

/** What a client sends over a connection. Ids are the client's own, unsigned 64-bit integers. */
export type ToServer =
  | { tag: "ActionRequest"; val: { id: bigint; name: string; args: unknown[] } }
  | { tag: "SubscriptionRequest"; val: { eventName: string; subscribe: boolean } };

/** An error sent over a connection: of one action, or of the connection if `actionId` is null. */
export interface ToClientError extends ErrorData {
  actionId: bigint | null;
}

/** What the server sends over a connection. */
export type ToClient =
  | { tag: "Init"; val: { actorId: string; connectionId: string } }
  | { tag: "Error"; val: ToClientError }
  | { tag: "ActionResponse"; val: { id: bigint; output: unknown } }
  | { tag: "Event"; val: { name: string; args: unknown[] } };
