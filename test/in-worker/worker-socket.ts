import { exports } from "cloudflare:workers";
import type { ClientSocket } from "../../src/client/index.js";

const worker = (exports as unknown as { default: { fetch(request: Request): Promise<Response> } }).default;

export function workerFetch(url: string, init: RequestInit): Promise<Response> {
  return worker.fetch(new Request(url, init));
}

/** A `WebSocket` class whose server is the Worker under test, through its `fetch`. */
export class WorkerSocket implements ClientSocket {
  binaryType = "blob";
  readonly #target = new EventTarget();
  #socket: WebSocket | undefined;
  #isClosed = false;

  constructor(url: string, protocols: string[]) {
    void this.#open(url, protocols);
  }

  get readyState(): number {
    return this.#socket?.readyState ?? (this.#isClosed ? 3 : 0);
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.#socket === undefined) throw new Error("The socket is not open");
    this.#socket.send(data);
  }

  close(code?: number, reason?: string): void {
    this.#isClosed = true;
    this.#socket?.close(code, reason);
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#target.addEventListener(type, listener as (event: Event) => void);
  }

  async #open(url: string, protocols: string[]): Promise<void> {
    const headers = { upgrade: "websocket", "sec-websocket-protocol": protocols.join(", ") };
    const { status, webSocket } = await worker.fetch(new Request(url.replace(/^ws/, "http"), { headers }));
    if (webSocket === null || this.#isClosed) return this.#emit("error", { message: `status ${status}` });
    webSocket.binaryType = this.binaryType as "arraybuffer";
    webSocket.addEventListener("message", ({ data }) => this.#emit("message", { data }));
    webSocket.addEventListener("close", ({ code, reason }) => this.#emit("close", { code, reason }));
    webSocket.accept();
    this.#socket = webSocket;
    this.#emit("open", {});
  }

  #emit(type: string, properties: object): void {
    this.#target.dispatchEvent(Object.assign(new Event(type), properties));
  }
}
