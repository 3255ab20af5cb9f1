/** As much of a `WebSocket` as the client uses; that of browsers, of Node and of Workers, and the package `ws`'s. */
export interface ClientSocket {
  binaryType: string;
  readonly readyState: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  addEventListener(type: "open" | "error", listener: (event: object) => void): void;
}

/** What `new WebSocket()` is. */
export type ClientSocketClass = new (url: string, protocols: string[]) => ClientSocket;

/** What becomes of a socket. After `onClose` nothing more. */
export interface SocketListener {
  onMessage(data: string | ArrayBuffer): void;
  onClose(code: number, reason: string): void;
}

/** A socket that is listened to until it is let go of. */
export interface HeldSocket {
  /** Never throws: what a socket that is closing does not take is lost, as on any network. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Closes it, and listens no more. Never throws. */
  close(code: number, reason: string): void;
}

const CLOSED_ABNORMALLY = 1006;

/** Listens to a socket, the same on every platform: one end only, and an error is one. */
export function holdSocket(socket: ClientSocket, listener: SocketListener): HeldSocket {
  let isHeld = true;
  const end = (code: number, reason: string): void => {
    if (!isHeld) return;
    isHeld = false;
    listener.onClose(code, reason);
  };
  socket.addEventListener("message", ({ data }) => {
    if (isHeld && (typeof data === "string" || data instanceof ArrayBuffer)) listener.onMessage(data);
  });
  socket.addEventListener("close", ({ code, reason }) => {
    // Where the platform leaves the answer to a close to its user.
    closeQuietly(socket);
    end(code, reason);
  });
  // Some platforms send no "close" after it, and none sends one that says more.
  socket.addEventListener("error", () => end(CLOSED_ABNORMALLY, ""));
  return {
    send(data) {
      try {
        socket.send(data);
      } catch {
        // Its close follows, and settles what it took with it.
      }
    },
    close(code, reason) {
      isHeld = false;
      closeQuietly(socket, code, reason);
    },
  };
}

function closeQuietly(socket: ClientSocket, code?: number, reason?: string): void {
  try {
    socket.close(code, reason);
  } catch {
    // It was closed.
  }
}
