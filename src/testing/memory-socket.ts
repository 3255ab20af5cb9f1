import { wireCodec, type Encoding, type ToClient, type ToServer } from "../protocol/index.js";
import type { ConnectionEnd, Socket } from "../actor/index.js";

/** How a client's socket reaches its actor. */
export interface SocketWay {
  /** Resolves when what was written so far is durable: nothing leaves before. */
  outputGate(): Promise<void>;
  message(socket: MemorySocket, frame: string | Uint8Array): Promise<void>;
  closed(socket: MemorySocket, end: ConnectionEnd): Promise<void>;
}

/**
 * A WebSocket in memory, both ends of it: the actor's, and a client that reads and writes the connection protocol, or raw
 * frames. It outlives evictions of the object, not the death of its process.
 */
export class MemorySocket implements Socket {
  attachment: Uint8Array | undefined;
  /** When the client pinged last, epoch ms. */
  lastPingAt: number | undefined;
  /** What the client has received. */
  readonly received: ToClient[] = [];
  /** What the client of a raw socket has received. */
  readonly frames: (string | Uint8Array)[] = [];
  /** How it ended, for the client. */
  end: ConnectionEnd | undefined;
  /** Called when the client has received something, and when the socket has ended. */
  onChange: () => void = () => {};
  readonly #encoding: Encoding | "raw";
  readonly #way: SocketWay;
  #isOpen = true;
  #hasDied = false;

  constructor(encoding: Encoding | "raw", way: SocketWay) {
    this.#encoding = encoding;
    this.#way = way;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  // ---- the actor's end ---------------------------------------------------------------------------------------------

  attach(bytes: Uint8Array<ArrayBuffer>): void {
    this.attachment = bytes;
  }

  send(frame: string | Uint8Array<ArrayBuffer>): void {
    if (!this.#isOpen) return;
    const message = this.#encoding === "raw" ? undefined : wireCodec(this.#encoding).toClient.decode(frame);
    void this.#way.outputGate().then(() => {
      // What the process did not live to make durable is never seen.
      if (this.#hasDied) return;
      if (message) this.received.push(message);
      else this.frames.push(frame);
      this.onChange();
    });
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    void this.#way.outputGate().then(() => {
      if (this.#hasDied) return;
      this.end ??= { code, reason };
      this.onChange();
      // The client answers, and the object hears of that, whether or not it is in memory by then.
      void this.#way.closed(this, { code, reason });
    });
  }

  /** The process of the actor died: its sockets end without a word. */
  die(): void {
    this.#isOpen = false;
    this.#hasDied = true;
    this.end ??= { code: 1006, reason: "" };
    this.onChange();
  }

  // ---- the client's end --------------------------------------------------------------------------------------------

  /** Resolves when the actor has served it. */
  say(message: ToServer): Promise<void> {
    if (this.#encoding === "raw") throw new TypeError("A raw socket has no protocol: use `sayRaw`");
    return this.sayRaw(wireCodec(this.#encoding).toServer.encode(message, { extended: true }));
  }

  sayRaw(frame: string | Uint8Array): Promise<void> {
    return this.#isOpen ? this.#way.message(this, frame) : Promise.resolve();
  }

  subscribe(eventName: string, subscribe = true): Promise<void> {
    return this.say({ tag: "SubscriptionRequest", val: { eventName, subscribe } });
  }

  call(id: number, name: string, ...args: unknown[]): Promise<void> {
    return this.say({ tag: "ActionRequest", val: { id: BigInt(id), name, args } });
  }

  /** The client closes, or (1006) is gone. */
  async hangUp(code = 1000, reason = ""): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.end = { code, reason };
    await this.#way.closed(this, this.end);
  }

  /** Events that the client has received, each as name and arguments. */
  get events(): unknown[][] {
    return this.received.flatMap((message) =>
      message.tag === "Event" ? [[message.val.name, ...message.val.args]] : [],
    );
  }
}
