import { sendableCloseReason, wireCodec } from "../../protocol/index.js";
import type { Failure } from "./error-response.js";
import { readableEncoding, upgradedResponse, type SocketPlatform } from "./socket-opening.js";

/**
 * Tells a WebSocket client why it is refused. Browsers hide the answer of a refused upgrade, so this accepts the
 * socket, sends an Error frame, and closes with 1011 and "group.code" (1003 for an unknown encoding).
 */
export function refuseSocket({ data }: Failure, request: Request, sockets: SocketPlatform): Response {
  const { 0: client, 1: server } = sockets.pair();
  server.accept();
  if (data.group === "encoding") server.close(1003, sendableCloseReason(`${data.group}.${data.code}`));
  else {
    server.send(
      wireCodec(readableEncoding(request.headers)).toClient.encode({ tag: "Error", val: { ...data, actionId: null } }),
    );
    server.close(1011, sendableCloseReason(`${data.group}.${data.code}`));
  }
  return upgradedResponse(client, request.headers, sockets);
}
