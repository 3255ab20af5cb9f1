/** A message as a raw socket's listeners get it. */
export interface RivetMessageEvent {
  readonly type: string;
  /** A string, or bytes as an `ArrayBuffer`. Typed `any`, as in RivetKit, so that `JSON.parse(event.data)` compiles. */
  readonly data: any;
}
/** The end of a raw socket. */
export interface RivetCloseEvent {
  readonly type: string;
  readonly code: number;
  readonly reason: string;
  readonly wasClean: boolean;
}
/** The opening or an error of a raw socket. */
export interface RivetEvent {
  readonly type: string;
}

interface SocketEvents {
  readonly message: RivetMessageEvent;
  readonly close: RivetCloseEvent;
  readonly open: RivetEvent;
  readonly error: RivetEvent;
}

/** The socket that `onWebSocket` gets: a standard WebSocket, already open. Listeners may be asynchronous. */
export interface UniversalWebSocket {
  readonly CONNECTING: 0;
  readonly OPEN: 1;
  readonly CLOSING: 2;
  readonly CLOSED: 3;
  /** `OPEN` at first, `CLOSED` after the end. */
  readonly readyState: number;
  readonly binaryType: "arraybuffer";
  readonly url: string;
  /**
   * Sends a message, after all changes so far are committed. A message to a closed socket is dropped.
   *
   * @example
   *     websocket.send(JSON.stringify({ count: c.state.count }));
   */
  send(data: string | ArrayBuffer | ArrayBufferView): void;
  /**
   * Closes the socket. Default code: 1000.
   *
   * @example
   *     websocket.close(4000, "game over");
   */
  close(code?: number, reason?: string): void;
  /**
   * Calls `listener` for every event of this type.
   *
   * @example
   *     websocket.addEventListener("message", ({ data }) => void c.state.lines.push(String(data)));
   */
  addEventListener<K extends keyof SocketEvents>(type: K, listener: (event: SocketEvents[K]) => unknown): void;
  /** Removes a listener. */
  removeEventListener<K extends keyof SocketEvents>(type: K, listener: (event: SocketEvents[K]) => unknown): void;
  onopen: ((event: RivetEvent) => unknown) | null;
  onmessage: ((event: RivetMessageEvent) => unknown) | null;
  onclose: ((event: RivetCloseEvent) => unknown) | null;
  onerror: ((event: RivetEvent) => unknown) | null;
}
