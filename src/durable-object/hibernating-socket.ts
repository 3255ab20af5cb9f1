import type { Socket } from "../actor/index.js";

const MAX_REASON_BYTES = 123;

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
    try {
      this.#socket.send(frame);
    } catch {
      // It is closing, or closed: its end is told by an event of its own.
    }
  }

  close(code: number, reason: string): void {
    try {
      this.#socket.close(sendableCode(code), shortened(reason));
    } catch {
      // Closed already.
    }
  }
}

/** Only these may stand in a close frame; the others mean that there was none. */
function sendableCode(code: number): number {
  const isStandard = code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code);
  return isStandard || (code >= 3000 && code <= 4999) ? code : 1000;
}

/** At most 123 bytes of UTF-8, with no character cut in two. */
function shortened(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.byteLength <= MAX_REASON_BYTES) return reason;
  return new TextDecoder().decode(bytes.subarray(0, MAX_REASON_BYTES)).replace(/\uFFFD+$/, "");
}
