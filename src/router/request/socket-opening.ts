import { ActorError, isEncoding, parseSubprotocols, SOCKET_PROTOCOL, type Encoding } from "../../protocol/index.js";
import { paramsFromJson } from "./read-params.js";

/** How a WebSocket client asks to be served: all of it stands in the subprotocols it offers. */
export interface SocketOpening {
  readonly encoding: Encoding;
  /** The client is Perdure's: every kind of value may be sent to it. */
  readonly extended: boolean;
  /** The client pings after each mebibyte it has received. */
  readonly pings: boolean;
  /** Connection params, bytes of the storage codec. */
  readonly params: Uint8Array | undefined;
}

export function isUpgrade(request: Request): boolean {
  return request.headers.get("upgrade")?.toLowerCase() === "websocket";
}

/** @throws {actor/invalid_request} when it asks for no WebSocket */
export function requireUpgrade(request: Request): void {
  if (!isUpgrade(request))
    throw new ActorError("actor", "invalid_request", "This route takes WebSocket upgrades only.");
}

/**
 * Reads the offered subprotocols.
 *
 * @throws {encoding/unsupported} when the encoding is unknown
 * @throws {request/too_large} when the params are larger than 4 KiB
 * @throws {actor/invalid_request} when the params are not JSON
 */
export function readSocketOpening(headers: Headers): SocketOpening {
  const { encoding, isOwnClient, pings = false, params } = parseSubprotocols(headers.get("sec-websocket-protocol"));
  const extended = isOwnClient ?? false;
  return { encoding, extended, pings, params: params === undefined ? undefined : paramsFromJson(params, extended) };
}

/** The encoding for a client whose opening may be invalid. */
export function readableEncoding(headers: Headers): Encoding {
  const named = offered(headers)
    .find((name) => name.startsWith("rivet_encoding."))
    ?.slice("rivet_encoding.".length);
  return isEncoding(named) ? named : "json";
}

/** What a runtime does with sockets. */
export interface SocketPlatform {
  /** Two ends of one socket: the caller's, and this side's. */
  pair(): { readonly 0: WebSocket; readonly 1: WebSocket };
  /** The answer that gives the caller's end away. */
  upgraded(webSocket: WebSocket, headers: Readonly<Record<string, string>>): Response;
}

/** Workers. */
export const WORKER_SOCKETS: SocketPlatform = {
  pair: () => new WebSocketPair(),
  upgraded: (webSocket, headers) => new Response(null, { status: 101, webSocket, headers }),
};

/** The answer to an upgrade. It selects our one subprotocol if it was offered, since clients refuse any other. */
export function upgradedResponse(webSocket: WebSocket, headers: Headers, sockets: SocketPlatform): Response {
  const selected = offered(headers).includes(SOCKET_PROTOCOL);
  return sockets.upgraded(webSocket, selected ? { "sec-websocket-protocol": SOCKET_PROTOCOL } : {});
}

function offered(headers: Headers): string[] {
  return (headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
}
