import type { ActorError, Frame } from "../../protocol/page.js";
import { actorChanged, callTimedOut, connectionClosed } from "./connection-errors.js";

/** One action call over a connection, until its answer. */
interface Call {
  readonly action: string;
  /** The id of the actor the call was made for; undefined: the first that answers. */
  readonly actorId: string | undefined;
  /** Encodes it; set until the call is sent. */
  frame: (() => Frame) | undefined;
  /** Once it was encoded to be sent. */
  sizeBytes: number;
  /** Cancels its timer and stops listening to its signal. */
  release(): void;
  resolve(output: unknown): void;
  reject(error: unknown): void;
}

export interface CallOptions {
  readonly action: string;
  readonly actorId: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
  /** Takes what the call says, which its frame is made of when there is a connection. An error either throws rejects the call. */
  frame(id: bigint): () => Frame;
}

/**
 * Runs `action` after `ms`; returns a function that cancels it. A timer that `mayEnd` does not keep the process
 * running.
 */
export type SetTimer = (ms: number, action: () => void, mayEnd?: boolean) => () => void;

/** A server's default limits of one connection's unanswered calls. */
const MAX_SENT = 256;
const MAX_SENT_BYTES = 15 * 1_048_576;

/**
 * The calls of a connection. Each settles once; each frame is sent at most once, and only to the life of the actor its
 * call was made for.
 */
export class ConnectionCalls {
  readonly #setTimer: SetTimer;
  readonly #sender: () => ((frame: Frame) => void) | undefined;
  /** Sent calls without an answer, and their bytes. */
  #sent = 0;
  #sentBytes = 0;
  /** Calls by id, in the order they were made. */
  readonly #calls = new Map<bigint, Call>();
  #nextId = 0n;

  /** `sender` returns the function that sends a frame, while there is a connection. */
  constructor(setTimer: SetTimer, sender: () => ((frame: Frame) => void) | undefined) {
    this.#setTimer = setTimer;
    this.#sender = sender;
  }

  /** The number of unanswered calls. */
  get size(): number {
    return this.#calls.size;
  }

  /**
   * Adds a call. It is sent at once if there is a connection within its limits of unanswered calls. Rejects with the
   * signal's reason, or when it times out.
   */
  make({ action, actorId, signal, timeoutMs, frame }: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const id = this.#nextId;
      const framed = frame(id);
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
      const call: Call = { action, actorId, frame: framed, sizeBytes: 0, release, resolve, reject };
      this.#calls.set(id, call);
      this.#pump();
    });
  }

  /** Sends the waiting calls in their order; rejects those made for another life with `client/actor_changed`. */
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
   * Rejects the sent calls with `client/connection_closed`. If the server closed because a message was too long, the
   * longest call gets that error; if it refused the caller (a refused subscription, for example), all of them get it.
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

  /** Sends calls in their order, as far as the server's limits allow. */
  #pump(): void {
    const send = this.#sender();
    if (!send) return;
    for (const [id, call] of this.#calls) {
      if (call.frame === undefined) continue;
      if (this.#sent >= MAX_SENT) return;
      let frame: Frame;
      try {
        frame = call.frame();
      } catch (error) {
        this.#take(id)?.reject(error);
        continue;
      }
      if (this.#sent > 0 && this.#sentBytes + frame.length > MAX_SENT_BYTES) return;
      call.frame = undefined;
      call.sizeBytes = frame.length;
      this.#sent += 1;
      this.#sentBytes += frame.length;
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
