import { ActorError } from "../../protocol/index.js";
import { actorRequest, forwardedRequest } from "../request/forwarded-request.js";
import type { ActorRequest } from "./routed-request.js";
import { isUpgrade, readSocketOpening, upgradedResponse } from "../request/socket-opening.js";

/**
 * `…/connect`: a WebSocket of the connection protocol. With `rawPath`, `…/websocket/{rawPath}`: one for the actor's
 * `onWebSocket`, which sees this path. Throws the caller's mistakes, and the errors of the actor's hooks; the router sends them through a
 * socket.
 */
export async function serveConnect(
  { request, url, userQuery, target, access, sockets }: ActorRequest,
  rawPath?: string,
): Promise<Response> {
  if (!isUpgrade(request))
    throw new ActorError("actor", "invalid_request", "This route takes WebSocket upgrades only.");
  const { encoding, extended, pings, params } = readSocketOpening(request.headers);
  const webSocket = await access.openSocket({
    target,
    operation: { kind: "connect", encoding, extended, ...(rawPath === undefined ? pings && { pings } : { raw: true }) },
    ...(params !== undefined && { params }),
    request:
      rawPath === undefined
        ? forwardedRequest(request, url, userQuery)
        : actorRequest(request, url, `/websocket${rawPath === "" ? "" : `/${rawPath}`}`, userQuery),
  });
  return upgradedResponse(webSocket, request.headers, sockets);
}
