import { ActorError, decodeRow, type Operation } from "../../protocol/index.js";
import type { OpenSocket } from "./open-socket.js";

/** What a wait comes to, as the object tells it. */
export type WaitResult =
  | { readonly status: "completed"; readonly reply?: Uint8Array }
  | { readonly status: "timedOut" };

export interface SocketWait {
  readonly actorId: string;
  readonly operation: Extract<Operation, { kind: "wait" }>;
  /** How long to wait, ms. */
  readonly leftMs: number;
  readonly signal: AbortSignal | undefined;
  /** Runs `action` after `ms`; gives what calls it off. */
  readonly setTimer: (ms: number, action: () => void) => () => void;
}

/**
 * Waits for a message to be completed through a socket, so that the object need not stay in memory. A sender who leaves, or
 * whose time is over, closes it.
 *
 * @throws the signal's reason, actor/restarting if the socket breaks, the object's refusal, and what `openSocket` throws
 */
export async function awaitThroughSocket(
  openSocket: OpenSocket,
  { actorId, operation, leftMs, signal, setTimer }: SocketWait,
): Promise<WaitResult> {
  signal?.throwIfAborted();
  const socket = await openSocket({ target: { actorId }, operation });
  // Some platforms would give Blobs, which can be read only later.
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
    // Closed already.
  }
}

function broken(): ActorError {
  return new ActorError("actor", "restarting", "The actor was restarted while a message waited in its queue.");
}
