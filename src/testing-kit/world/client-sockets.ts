import type { ClientSocketClass } from "../../client/in-process.js";
import type { SocketEnd } from "./socket-end.js";

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;

/** A `WebSocket` class whose sockets `answer` opens: it gets the upgrade, and answers as the Worker does. */
export function clientSocketClass(answer: (upgrade: Request) => Promise<Response>): ClientSocketClass {
  const made = class extends WorldWebSocket {
    constructor(url: string, protocols: readonly string[] = []) {
      const headers = { upgrade: "websocket", "sec-websocket-protocol": protocols.join(", ") };
      super(answer(new Request(url.replace(/^ws/, "http"), { headers })));
    }
  };
  // The types of its listeners are those of `EventTarget`.
  return made as unknown as ClientSocketClass;
}

type Listener = ((event: Event) => unknown) | null;

class WorldWebSocket extends EventTarget {
  binaryType = "arraybuffer";
  readyState = CONNECTING;
  protocol = "";
  onopen: Listener = null;
  onmessage: Listener = null;
  onclose: Listener = null;
  #end: SocketEnd | undefined;
  #closing: readonly [code: number, reason: string] | undefined;

  constructor(answered: Promise<Response>) {
    super();
    answered.then(
      (response) => this.#answered(response),
      () => this.#closed(1006, ""),
    );
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.readyState === CONNECTING) throw new DOMException("The socket is not open yet", "InvalidStateError");
    this.#end?.send(data);
  }

  close(code = 1000, reason = ""): void {
    if (this.readyState >= CLOSING) return;
    this.readyState = CLOSING;
    this.#closing = [code, reason];
    if (this.#end) this.#endIt(this.#end);
  }

  #answered(response: Response): void {
    const end = (response as { readonly webSocket?: SocketEnd | null }).webSocket;
    if (!end) return this.#closed(1006, "");
    this.#end = end;
    this.protocol = response.headers.get("sec-websocket-protocol") ?? "";
    if (this.#closing) return this.#endIt(end);
    this.readyState = OPEN;
    this.#tell("open");
    end.addEventListener("message", (event) => {
      if (this.readyState === OPEN) this.#tell("message", { data: (event as MessageEvent).data as unknown });
    });
    end.addEventListener("close", (event) => {
      const { code, reason } = event as CloseEvent;
      this.#closed(code, reason);
    });
    end.accept();
  }

  /** The other side answers a close at once. */
  #endIt(end: SocketEnd): void {
    const [code, reason] = this.#closing ?? [1000, ""];
    end.close(code, reason);
    queueMicrotask(() => this.#closed(code, reason));
  }

  #closed(code: number, reason: string): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.#tell("close", { code, reason, wasClean: code !== 1006 });
  }

  #tell(type: "open" | "message" | "close", members: object = {}): void {
    const event = Object.assign(new Event(type), members);
    this[`on${type}`]?.(event);
    this.dispatchEvent(event);
  }
}
