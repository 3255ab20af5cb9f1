import type { Socket } from "../actor/index.js";
import { closeSafely, sendSafely } from "./safe-socket.js";

/**
 * The actor's view of a WebSocket that the object accepted for hibernation. There is one for each, as long as the object
 * lives in memory.
 */
export class HibernatingSocket implements Socket {
  static readonly #known = new WeakMap<WebSocket, HibernatingSocket>();
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static of(socket: WebSocket): HibernatingSocket {
    const known = this.#known.get(socket) ?? new HibernatingSocket(socket);
    this.#known.set(socket, known);
    return known;
  }

  get attachment(): Uint8Array | undefined {
    const attached: unknown = this.#socket.deserializeAttachment();
    return attached instanceof Uint8Array ? attached : undefined;
  }

  attach(bytes: Uint8Array<ArrayBuffer>): void {
    this.#socket.serializeAttachment(bytes);
  }

  send(frame: string | Uint8Array<ArrayBuffer>): void {
    sendSafely(this.#socket, frame);
  }

  close(code: number, reason: string): void {
    closeSafely(this.#socket, code, reason);
  }
}
