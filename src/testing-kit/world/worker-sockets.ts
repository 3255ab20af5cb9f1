import { PING, PONG } from "../../protocol/index.js";
import type { SocketPlatform } from "../../router/index.js";
import type { MemorySocket } from "../../testing/index.js";
import { SocketEnd, type NextTurn } from "./socket-end.js";

/** The sockets of a Worker, in Node: its `Response` may not have the status 101. */
export function socketsOf(nextTurn: NextTurn): SocketPlatform {
  return {
    pair: () => SocketEnd.pair(nextTurn) as unknown as ReturnType<SocketPlatform["pair"]>,
    upgraded: (webSocket, headers) => upgradedTo(webSocket, headers),
  };
}

/** An answer that gives a socket away. */
export function upgradedTo(webSocket: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const response = new Response(null, { headers });
  return Object.defineProperties(response, { status: { value: 101 }, webSocket: { value: webSocket } });
}

/** The Worker's end of a socket of an object. `now`: pings are answered for the object, as the platform does. */
export function endOf(socket: MemorySocket, nextTurn: NextTurn, now?: () => number): SocketEnd {
  const send = (frame: string | Uint8Array<ArrayBuffer>): void => {
    if (now && frame === PING) {
      socket.lastPingAt = now();
      return end.receive(PONG);
    }
    // What fails there is the actor's.
    socket.sayRaw(frame).catch(() => {});
  };
  const close = (code: number, reason: string): void => void socket.hangUp(code, reason).catch(() => {});
  const end = new SocketEnd({ send, close }, nextTurn);
  const tell = (): void => {
    for (const frame of socket.frames.splice(0)) end.receive(frame);
    if (socket.end) end.ended(socket.end.code, socket.end.reason);
  };
  socket.onChange = tell;
  tell();
  return end;
}
