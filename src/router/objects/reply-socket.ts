import { ActorError, decodeRow, type CallOperation } from "../../protocol/index.js";
import type { OpenSocket } from "./open-socket.js";

/** The result of a wait, as the object answers it. */
export type WaitResult =
  | { readonly status: "completed"; readonly reply?: Uint8Array }
  | { readonly status: "timedOut" };

export interface SocketWait {
  readonly actorId: string;
  readonly operation: Extract<CallOperation, { kind: "wait" }>;
  /** How long to wait, ms. */
  readonly leftMs: number;
  readonly signal: AbortSignal | undefined;
  /** Runs `action` after `ms`; returns a function that cancels it. */
  readonly setTimer: (ms: number, action: () => void) => () => void;
}

/**
 * Waits through a socket until a message is completed, so that the object can leave memory meanwhile. The socket is
 * closed when the signal fires or the timeout passes.
 *
 * @throws {actor/restarting} when the socket breaks
 * @throws the signal's reason, the object's refusal, and the errors of `openSocket`
 */
export async function awaitThroughSocket(
  openSocket: OpenSocket,
  { actorId, operation, leftMs, signal, setTimer }: SocketWait,
): Promise<WaitResult> {
  signal?.throwIfAborted();
  const socket = await openSocket({ target: { actorId }, operation });
  // By default some platforms deliver Blobs, which can only be read asynchronously.
  socket.binaryType = "arraybuffer";
  return new Promise<WaitResult>((resolve, reject) => {
    const onAbort = (): void => end(() => reject(signal?.reason));
    const end = (settle: () => void): void => {
      stopTimer();
      signal?.removeEventListener("abort", onAbort);
      closeQuietly(socket);
      settle();
    };
    const stopTimer = setTimer(leftMs, () => end(() => resolve({ status: "timedOut" })));
    socket.addEventListener("message", ({ data }) => {
      if (data instanceof ArrayBuffer) end(() => resolve(decodeRow(new Uint8Array(data)) as WaitResult));
    });
    for (const ending of ["close", "error"] as const)
      socket.addEventListener(ending, () => end(() => reject(broken())));
    signal?.addEventListener("abort", onAbort, { once: true });
    socket.accept();
    if (signal?.aborted) onAbort();
  });
}

function closeQuietly(socket: WebSocket): void {
  try {
    socket.close(1000, "");
  } catch {
    // Already closed.
  }
}

function broken(): ActorError {
  return new ActorError("actor", "restarting", "The actor was restarted while a message waited in its queue.");
}
