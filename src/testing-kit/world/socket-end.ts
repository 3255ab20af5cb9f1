import { AsyncLocalStorage } from "node:async_hooks";

/** Where what one end of a socket says goes. */
export interface SocketWay {
  send(frame: string | Uint8Array<ArrayBuffer>): void;
  close(code: number, reason: string): void;
}

/** Runs a function in the next turn of the event loop. */
export type NextTurn = (run: () => void) => void;

const OPEN = 1;
const CLOSED = 3;

/**
 * One end of a socket of a world, as `WebSocket` shows it in a Worker: what arrives before `accept` waits. Binary frames come
 * as `ArrayBuffer`.
 */
export class SocketEnd extends EventTarget {
  binaryType = "arraybuffer";
  readonly #way: SocketWay;
  readonly #nextTurn: NextTurn;
  /** Runs listeners as code of whoever accepted it, not of whoever speaks. */
  #asItsOwner: (<T>(run: () => T) => T) | undefined;
  #waiting: Event[] = [];
  #state = OPEN;

  constructor(way: SocketWay, nextTurn: NextTurn) {
    super();
    this.#way = way;
    this.#nextTurn = nextTurn;
  }

  /** Two ends of one socket. */
  static pair(nextTurn: NextTurn): { readonly 0: SocketEnd; readonly 1: SocketEnd } {
    const to = (other: () => SocketEnd): SocketWay => ({
      send: (frame) => other().receive(frame),
      close: (code, reason) => other().ended(code, reason),
    });
    const one = new SocketEnd(
      to(() => two),
      nextTurn,
    );
    const two: SocketEnd = new SocketEnd(
      to(() => one),
      nextTurn,
    );
    return { 0: one, 1: two };
  }

  get readyState(): number {
    return this.#state;
  }

  /** What has arrived, and what does, is told from the next turn on: until then its owner may add listeners. */
  accept(): void {
    const asItsOwner = AsyncLocalStorage.snapshot();
    this.#nextTurn(() => {
      this.#asItsOwner = asItsOwner;
      for (const event of this.#waiting.splice(0)) this.#tell(event);
    });
  }

  send(data: string | ArrayBuffer | Uint8Array<ArrayBuffer>): void {
    if (this.#state !== OPEN) return;
    this.#way.send(typeof data === "string" ? data : new Uint8Array(data).slice());
  }

  close(code = 1005, reason = ""): void {
    if (this.#state === CLOSED) return;
    this.#state = CLOSED;
    this.#way.close(code, reason);
  }

  // ---- told by the other end ---------------------------------------------------------------------------------------

  receive(frame: string | Uint8Array): void {
    if (this.#state !== OPEN) return;
    const data = typeof frame === "string" ? frame : new Uint8Array(frame).buffer;
    this.#tell(Object.assign(new Event("message"), { data }));
  }

  ended(code: number, reason: string): void {
    if (this.#state === CLOSED) return;
    this.#state = CLOSED;
    this.#tell(Object.assign(new Event("close"), { code, reason, wasClean: code !== 1006 }));
  }

  #tell(event: Event): void {
    if (this.#asItsOwner) this.#asItsOwner(() => this.dispatchEvent(event));
    else this.#waiting.push(event);
  }
}
