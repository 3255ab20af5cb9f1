/** The part of a `WebSocket` the client uses: of browsers, Node, Workers, and the package `ws`. */
export interface ClientSocket {
  binaryType: string;
  readonly readyState: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  addEventListener(type: "open" | "error", listener: (event: object) => void): void;
}

/** A `WebSocket` class. */
export type ClientSocketClass = new (url: string, protocols: string[]) => ClientSocket;

/** Listens to a socket. Nothing is called after `onClose`. */
export interface SocketListener {
  onMessage(data: string | ArrayBuffer): void;
  onClose(code: number, reason: string): void;
}

/** A socket with one listener, until it is closed. */
export interface HeldSocket {
  /** Sends, and never throws: what a closing socket does not accept is lost, as on any network. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Closes the socket and stops listening. Never throws. */
  close(code: number, reason: string): void;
}

const CLOSED_ABNORMALLY = 1006;

/** Listens to a socket, the same way on every platform: it ends once, and an error is an end. */
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
    // Some platforms leave it to the user to answer a close.
    closeQuietly(socket);
    end(code, reason);
  });
  // Some platforms fire no "close" after "error", and none fires one with more information.
  socket.addEventListener("error", () => end(CLOSED_ABNORMALLY, ""));
  return {
    send(data) {
      try {
        socket.send(data);
      } catch {
        // Its close follows, and settles what was lost with it.
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
    // Already closed.
  }
}
