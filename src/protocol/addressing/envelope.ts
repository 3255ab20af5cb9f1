import type { ErrorData } from "../errors/errors.js";
import type { Encoding } from "../messages/messages.js";
import type { Frame } from "../messages/codec.js";
import type { InspectQuestion } from "./inspect-question.js";

/** How the caller addresses the actor. By id, `name` is "" and `key` [] (which no actor has), and only `generation` counts. */
export interface ActorAddress {
  readonly name: string;
  readonly key: readonly string[];
  /** Set when the caller addresses the actor by id; another generation than the stored one is `actor/not_found`. */
  readonly generation?: string;
}

/** What to do when the actor does not exist. */
export type Creation =
  | { readonly mode: "get" }
  | { readonly mode: "getOrCreate"; readonly input?: Uint8Array }
  | { readonly mode: "create"; readonly input?: Uint8Array };

/** What the caller asks for. `args`, `input` and `output` are bytes of the storage codec (`encodeValue`). */
export type CallOperation =
  | { readonly kind: "action"; readonly name: string; readonly args: Uint8Array }
  /**
   * Stores a message; the output is `{ id, createdAt, waitMs }`. With `attachMs` the call waits so long for the message to be
   * completed: the output then also has the `result`, as a wait's output, or `leftMs` of the wait. (Earlier releases
   * ignore it.) `token`: 32 hex digits by which the sender reattaches.
   */
  | {
      readonly kind: "send";
      readonly queue: string;
      readonly body: Uint8Array;
      readonly wait?: boolean;
      readonly timeoutMs?: number;
      readonly attachMs?: number;
      readonly token?: string;
    }
  /**
   * Finds the message of a send whose answer was lost; the output is that of the send, or undefined if no message or kept
   * reply has this token. Creates no actor. (Earlier releases refuse it.)
   */
  | { readonly kind: "sent"; readonly token: string }
  /**
   * Waits for a message to be completed; the output is `{ status: "completed", reply? } | { status: "timedOut" }`. As an upgrade
   * it waits without a limit and without keeping the object in memory; the output is then the socket's only frame.
   */
  | {
      readonly kind: "wait";
      readonly messageId: number;
      readonly createdAt: number;
      readonly timeoutMs: number;
      readonly token?: string;
    }
  /** What a part of the actor answers: both bodies are in a form of its own. Creates no actor without that part. */
  | { readonly kind: "part"; readonly part: string; readonly body: Uint8Array }
  /**
   * Opens a connection, with a WebSocket upgrade. `extended`: the client is our own; `pings`: it pings after each mebibyte
   * received; `raw`: for `onWebSocket`.
   */
  | {
      readonly kind: "connect";
      readonly encoding: Encoding;
      readonly extended: boolean;
      readonly raw?: boolean;
      readonly pings?: boolean;
    }
  /** A raw request, with that request. */
  | { readonly kind: "request" }
  /**
   * Finds or creates the actor. `forCaller`: a connection or request follows, which must be admitted before the actor is created.
   * `inspect`: an operator's question about an actor that exists; the output is its answer, UTF-8 JSON. (Earlier releases
   * ignore it and start nothing: their reply has no output.)
   */
  | { readonly kind: "resolve"; readonly forCaller?: boolean; readonly inspect?: InspectQuestion }
  /** Destroys the actor like its own `c.destroy()`; never creates one. Answered once the actor cannot come back. */
  | { readonly kind: "destroy" }
  /** Puts the actor to sleep like its own `c.sleep()`; never creates one. */
  | { readonly kind: "sleep" };

/** One link in the chain of actors that wait for a call between actors. */
export interface CallLink {
  readonly actorId: string;
  readonly name: string;
  /** Which part of the actor waits: actions interleave, the workflow and the run handler do not. */
  readonly waits: "workflow" | "run" | "action";
  /** For a workflow: the step attempt that waits. */
  readonly step?: string;
  /** The length of the chain up to this link. */
  readonly depth: number;
}

/** Worker → object. Unknown fields are ignored: the two may be one release apart. */
export interface CallEnvelope {
  readonly v: number;
  readonly address: ActorAddress;
  readonly creation: Creation;
  readonly operation: CallOperation;
  /** The caller is code of the same Worker, over the binding. */
  readonly internal?: boolean;
  /** Who waits for this call, the caller last; ignored unless `internal` is set. */
  readonly chain?: readonly CallLink[];
  /** Connection params as the client sent them, bytes of the storage codec. */
  readonly params?: Uint8Array;
  /** The HTTP request behind the call: its URL and headers, without our own credentials. */
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly (readonly [string, string])[];
  };
}

/** Object → Worker: errors are data, never thrown. `name` and `key` are in the answer to `resolve`. */
export type ReplyEnvelope =
  | {
      readonly v: number;
      readonly ok: true;
      readonly actorId: string;
      readonly created: boolean;
      readonly createdAt: number;
      readonly name?: string;
      readonly key?: readonly string[];
      readonly output?: Uint8Array;
      /** The answer to an `ActionCall`, in its caller's encoding. */
      readonly answer?: Frame;
    }
  | { readonly v: number; readonly ok: false; readonly error: ErrorData; readonly status: number };
