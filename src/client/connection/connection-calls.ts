import type { ActorError, Frame } from "../../protocol/index.js";
import { actorChanged, callTimedOut, connectionClosed } from "./connection-errors.js";

/** One call of an action over a connection, from its making to its answer. */
interface Call {
  readonly action: string;
  /** The life of the actor that it was made for; undefined: whichever answers first. */
  readonly actorId: string | undefined;
  /** Until it is sent. */
  frame: Frame | undefined;
  readonly sizeBytes: number;
  /** Lets go of its timer and its signal. */
  release(): void;
  resolve(output: unknown): void;
  reject(error: unknown): void;
}

export interface CallOptions {
  readonly action: string;
  readonly actorId: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
  /** The call as a frame. What it throws rejects the call. */
  frame(id: bigint): Frame;
}

/** Runs `action` after `ms`; gives what calls it off. One that `mayEnd` keeps no process running that has nothing else to do. */
export type SetTimer = (ms: number, action: () => void, mayEnd?: boolean) => () => void;

/** What a server takes of calls without an answer from one connection, by default. */
const MAX_SENT = 256;
const MAX_SENT_BYTES = 15 * 1_048_576;

/**
 * The calls of a connection. Each settles once; each frame is sent at most once, and only to the life of the actor that
 * its call was made for.
 */
export class ConnectionCalls {
  readonly #setTimer: SetTimer;
  readonly #sender: () => ((frame: Frame) => void) | undefined;
  /** Calls that were sent and have no answer yet, and their bytes. */
  #sent = 0;
  #sentBytes = 0;
  /** By id, in the order in which they were made. */
  readonly #calls = new Map<bigint, Call>();
  #nextId = 0n;

  /** `sender`: what sends a frame, while there is a connection. */
  constructor(setTimer: SetTimer, sender: () => ((frame: Frame) => void) | undefined) {
    this.#setTimer = setTimer;
    this.#sender = sender;
  }

  /** How many have no answer yet. */
  get size(): number {
    return this.#calls.size;
  }

  /**
   * A call that waits to be sent, at once if there is a connection and not too many have no answer yet. Rejects with
   * the signal's reason, or when its time is over.
   */
  make({ action, actorId, signal, timeoutMs, frame }: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const id = this.#nextId;
      const encoded = frame(id);
      this.#nextId += 1n;
      const onAbort = (): void => this.#take(id)?.reject(signal?.reason);
      const onTimeout = (): void => {
        const call = this.#take(id);
        call?.reject(callTimedOut(action, timeoutMs ?? 0, call.frame === undefined));
      };
      const stopTimer = timeoutMs === undefined ? undefined : this.#setTimer(timeoutMs, onTimeout);
      signal?.addEventListener("abort", onAbort, { once: true });
      const release = (): void => {
        stopTimer?.();
        signal?.removeEventListener("abort", onAbort);
      };
      const call: Call = { action, actorId, frame: encoded, sizeBytes: encoded.length, release, resolve, reject };
      this.#calls.set(id, call);
      this.#pump();
    });
  }

  /** Sends those that wait, in their order; rejects with `client/actor_changed` those that were made for another life. */
  flush(actorId: string): void {
    for (const [id, call] of this.#calls) {
      if (call.actorId !== undefined && call.actorId !== actorId) this.#take(id)?.reject(actorChanged(call.action));
    }
    this.#pump();
  }

  resolve(id: bigint, output: unknown): void {
    this.#take(id)?.resolve(output);
  }

  reject(id: bigint, error: ActorError): void {
    this.#take(id)?.reject(error);
  }

  /**
   * Rejects those that were sent with `client/connection_closed`. If the server closed because a message was too long,
   * the longest one is told so; if it let the caller do no more (a subscription that was refused, say), all are told that.
   */
  rejectSent(cause: ActorError | undefined): void {
    const sent = [...this.#calls].filter(([, { frame }]) => frame === undefined);
    const tooLong =
      cause?.group === "message" && cause.code === "incoming_too_long"
        ? longestOf(sent.map(([, call]) => call))
        : undefined;
    for (const [id, call] of sent)
      this.#take(id)?.reject(
        cause !== undefined && (call === tooLong || cause.group === "auth")
          ? cause
          : connectionClosed(call.action, cause),
      );
  }

  rejectAll(error: ActorError): void {
    for (const id of this.#calls.keys()) this.#take(id)?.reject(error);
  }

  #take(id: bigint): Call | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    call?.release();
    if (call && call.frame === undefined) {
      this.#sent -= 1;
      this.#sentBytes -= call.sizeBytes;
      if (this.#calls.size > this.#sent) this.#pump();
    }
    return call;
  }

  /** Sends what may be sent, in the order in which it was made: a server refuses a connection's calls beyond its bounds. */
  #pump(): void {
    const send = this.#sender();
    if (!send) return;
    for (const call of this.#calls.values()) {
      const { frame, sizeBytes } = call;
      if (frame === undefined) continue;
      if (this.#sent >= MAX_SENT || (this.#sent > 0 && this.#sentBytes + sizeBytes > MAX_SENT_BYTES)) return;
      call.frame = undefined;
      this.#sent += 1;
      this.#sentBytes += sizeBytes;
      send(frame);
    }
  }
}

function longestOf(calls: readonly Call[]): Call | undefined {
  return calls.reduce<Call | undefined>(
    (longest, call) => (longest === undefined || call.sizeBytes > longest.sizeBytes ? call : longest),
    undefined,
  );
}
