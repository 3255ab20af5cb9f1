import { MemorySocket } from "./memory-socket.js";

/** The sockets through which senders wait for replies of one object, each with the token that it knows its message by. */
export class ReplySockets {
  readonly #sockets = new Map<MemorySocket, string>();
  readonly #outputGate: () => Promise<void>;

  constructor(outputGate: () => Promise<void>) {
    this.#outputGate = outputGate;
  }

  get open(): number {
    return this.of().length;
  }

  of(token?: string): MemorySocket[] {
    return [...this.#sockets].flatMap(([socket, its]) => (socket.isOpen && (token ?? its) === its ? [socket] : []));
  }

  add(token: string): MemorySocket {
    const socket = new MemorySocket("raw", {
      outputGate: this.#outputGate,
      message: async () => {},
      closed: async () => {},
    });
    this.#sockets.set(socket, token);
    return socket;
  }

  /** The process of the object died. */
  die(): void {
    for (const socket of this.#sockets.keys()) socket.die();
    this.#sockets.clear();
  }
}
