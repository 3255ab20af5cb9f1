import { sendableCloseReason, wireCodec } from "../../protocol/index.js";
import type { Failure } from "./error-response.js";
import { readableEncoding, upgradedResponse } from "./socket-opening.js";

/**
 * Tells a WebSocket client why it is not let in. A browser shows nothing of a refused upgrade, so it is let in as far as
 * here: an Error frame, then close 1011 with "group.code" (1003 for an encoding that nobody here writes).
 */
export function refuseSocket({ data }: Failure, request: Request): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  if (data.group === "encoding") server.close(1003, sendableCloseReason(`${data.group}.${data.code}`));
  else {
    server.send(
      wireCodec(readableEncoding(request.headers)).toClient.encode({ tag: "Error", val: { ...data, actionId: null } }),
    );
    server.close(1011, sendableCloseReason(`${data.group}.${data.code}`));
  }
  return upgradedResponse(client, request.headers);
}
