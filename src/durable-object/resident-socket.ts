import type { ObjectEvents, Socket } from "../actor/index.js";
import { closeSafely, sendSafely } from "./safe-socket.js";

/** The actor's view of a WebSocket that keeps the object in memory and ends with it. */
export class ResidentSocket implements Socket {
  attachment: Uint8Array | undefined;
  /** Pings of a raw socket are the user's. */
  readonly lastPingAt = undefined;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket, events: ObjectEvents) {
    this.#socket = socket;
    // Newer compatibility dates deliver Blobs, and a later frame could overtake their asynchronous decoding.
    socket.binaryType = "arraybuffer";
    socket.addEventListener(
      "message",
      ({ data }) =>
        void events.socketMessage(this, typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer)),
    );
    socket.addEventListener("close", ({ code, reason }) => {
      closeSafely(socket, code, reason);
      void events.socketClosed(this, { code, reason });
    });
    socket.addEventListener(
      "error",
      () => void events.socketClosed(this, { code: 1006, reason: "The connection was lost" }),
    );
    socket.accept();
  }

  attach(bytes: Uint8Array<ArrayBuffer>): void {
    this.attachment = bytes;
  }

  send(frame: string | Uint8Array<ArrayBuffer>): void {
    sendSafely(this.#socket, frame);
  }

  close(code: number, reason: string): void {
    closeSafely(this.#socket, code, reason);
  }
}
