import type { ErrorData } from "../errors/errors.js";
import type { Encoding } from "../messages/messages.js";

/** How the caller names the actor it wants. By id, name is "" and key [] (no actor's), and only the generation counts. */
export interface ActorAddress {
  readonly name: string;
  readonly key: readonly string[];
  /** Compared with the stored id when the caller addressed the actor by id; a different one is `actor/not_found`. */
  readonly generation?: string;
}

/** What may happen when there is no such actor. */
export type Creation =
  | { readonly mode: "get" }
  | { readonly mode: "getOrCreate"; readonly input?: Uint8Array }
  | { readonly mode: "create"; readonly input?: Uint8Array };

/** What the caller wants done. `args`, `input`, `output` are bytes of the storage codec (`encodeValue`). */
export type Operation =
  | { readonly kind: "action"; readonly name: string; readonly args: Uint8Array }
  /** Stores a message; the output is `{ id, createdAt, waitMs }`. `token`: 32 hex digits, by which its sender attaches again. */
  | {
      readonly kind: "send";
      readonly queue: string;
      readonly body: Uint8Array;
      readonly wait?: boolean;
      readonly timeoutMs?: number;
      readonly token?: string;
    }
  /**
   * Waits for a message to be completed; the output is `{ status: "completed", reply? } | { status: "timedOut" }`. As an upgrade
   * it waits without an end, and without keeping the object in memory; the output is then the socket's one frame.
   */
  | {
      readonly kind: "wait";
      readonly messageId: number;
      readonly createdAt: number;
      readonly timeoutMs: number;
      readonly token?: string;
    }
  /**
   * Opens a connection; goes with a WebSocket upgrade. `extended`: the client is our own; `pings`: it pings after each
   * mebibyte; `raw`: for `onWebSocket`.
   */
  | {
      readonly kind: "connect";
      readonly encoding: Encoding;
      readonly extended: boolean;
      readonly raw?: boolean;
      readonly pings?: boolean;
    }
  /** A raw request; goes with that request. */
  | { readonly kind: "request" }
  /** Makes the actor, or looks for it. `forCaller`: a connection or a request follows, which is to be let in before there is an actor. */
  | { readonly kind: "resolve"; readonly forCaller?: boolean }
  /** Ends the actor, as its own `c.destroy()` would; never creates one. Answered once it cannot come back. */
  | { readonly kind: "destroy" }
  /** Puts the actor to sleep, as its own `c.sleep()` would; never creates one. */
  | { readonly kind: "sleep" };

/** One of those who wait for a call between actors to end. */
export interface CallLink {
  readonly actorId: string;
  readonly name: string;
  /** What of the actor waits: actions interleave, its workflow and its run handler do not. */
  readonly waits: "workflow" | "run" | "action";
  /** Of a workflow: the attempt that waits. */
  readonly step?: string;
  /** How many wait for one another up to this one. */
  readonly depth: number;
}

/** Worker → object. Unknown fields are ignored, so that one release of difference is tolerated. */
export interface CallEnvelope {
  readonly v: number;
  readonly address: ActorAddress;
  readonly creation: Creation;
  readonly operation: Operation;
  /** The caller is code of the same Worker, over the binding. */
  readonly internal?: boolean;
  /** Who waits for this call, the caller last; counts only where `internal` is set. */
  readonly chain?: readonly CallLink[];
  /** Connection params as the client sent them, bytes of the storage codec. */
  readonly params?: Uint8Array;
  /** The HTTP request behind the call: its URL and headers, without credentials of ours. */
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly (readonly [string, string])[];
  };
}

/** Object → Worker: errors are data, never thrown. `name` and `key` stand in the answer to `resolve`. */
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
    }
  | { readonly v: number; readonly ok: false; readonly error: ErrorData; readonly status: number };
