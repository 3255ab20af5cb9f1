import type { Socket } from "../actor/index.js";
import { closeSafely, sendSafely } from "./safe-socket.js";

/**
 * The actor's view of a WebSocket accepted for hibernation. There is one per socket while the object is in memory.
 */
export class HibernatingSocket implements Socket {
  static readonly #known = new WeakMap<WebSocket, HibernatingSocket>();
  readonly #socket: WebSocket;
  readonly #ctx: DurableObjectState;
  #tags: readonly string[] | undefined;
  /** When we last answered a ping ourselves, in epoch ms. */
  answeredAt: number | undefined;

  private constructor(ctx: DurableObjectState, socket: WebSocket) {
    this.#ctx = ctx;
    this.#socket = socket;
  }

  static of(ctx: DurableObjectState, socket: WebSocket): HibernatingSocket {
    let known = this.#known.get(socket);
    if (!known) this.#known.set(socket, (known = new HibernatingSocket(ctx, socket)));
    return known;
  }

  /** The tags it was accepted with. The platform makes a list at each question. */
  get tags(): readonly string[] {
    return (this.#tags ??= this.#ctx.getTags(this.#socket));
  }

  get attachment(): Uint8Array | undefined {
    const attached: unknown = this.#socket.deserializeAttachment();
    return attached instanceof Uint8Array ? attached : undefined;
  }

  get lastPingAt(): number | undefined {
    const byPlatform = this.#ctx.getWebSocketAutoResponseTimestamp(this.#socket)?.getTime();
    return byPlatform === undefined ? this.answeredAt : Math.max(byPlatform, this.answeredAt ?? 0);
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
