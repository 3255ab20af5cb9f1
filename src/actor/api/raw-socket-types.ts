/** A message, as listeners of a raw socket get it: text as it is, bytes as an ArrayBuffer. */
export interface RivetMessageEvent {
  readonly type: string;
  /** A string or an ArrayBuffer; untyped, as `JSON.parse(event.data)` and RivetKit have it. */
  readonly data: any;
}
export interface RivetCloseEvent {
  readonly type: string;
  readonly code: number;
  readonly reason: string;
  readonly wasClean: boolean;
}
export interface RivetEvent {
  readonly type: string;
}

interface SocketEvents {
  readonly message: RivetMessageEvent;
  readonly close: RivetCloseEvent;
  readonly open: RivetEvent;
  readonly error: RivetEvent;
}

/** What `onWebSocket` is given: a WebSocket as the standard has it, open already. Listeners may be asynchronous. */
export interface UniversalWebSocket {
  readonly CONNECTING: 0;
  readonly OPEN: 1;
  readonly CLOSING: 2;
  readonly CLOSED: 3;
  /** `OPEN` at first, `CLOSED` after its end. */
  readonly readyState: number;
  readonly binaryType: "arraybuffer";
  readonly url: string;
  /** Leaves once what is dirty has been committed. What is sent to a socket that has ended is lost. */
  send(data: string | ArrayBuffer | ArrayBufferView): void;
  /** Code 1000 by default. */
  close(code?: number, reason?: string): void;
  addEventListener<K extends keyof SocketEvents>(type: K, listener: (event: SocketEvents[K]) => unknown): void;
  removeEventListener<K extends keyof SocketEvents>(type: K, listener: (event: SocketEvents[K]) => unknown): void;
  onopen: ((event: RivetEvent) => unknown) | null;
  onmessage: ((event: RivetMessageEvent) => unknown) | null;
  onclose: ((event: RivetCloseEvent) => unknown) | null;
  onerror: ((event: RivetEvent) => unknown) | null;
}
