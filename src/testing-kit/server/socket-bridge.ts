import type { WebSocket as NodeSocket } from "ws";
import { sendableCloseCode, sendableCloseReason } from "../../protocol/index.js";
import type { SocketEnd } from "../world/socket-end.js";

const LOST = 1006;

/** Joins a socket of the network with the end of one of the world: frames and ends pass both ways. */
export function bridge(socket: NodeSocket, end: SocketEnd): void {
  socket.binaryType = "nodebuffer";
  socket.on("message", (data: Buffer, isBinary) => {
    end.send(isBinary ? Uint8Array.from(data) : data.toString("utf8"));
  });
  // Its "close" follows.
  socket.on("error", () => {});
  socket.on("close", (code, reason) => end.close(code, reason.toString("utf8")));
  end.addEventListener("message", (event) => socket.send((event as MessageEvent).data as string | ArrayBuffer));
  end.addEventListener("close", (event) => {
    const { code, reason } = event as CloseEvent;
    if (code === LOST) socket.terminate();
    else socket.close(sendableCloseCode(code), sendableCloseReason(reason));
  });
  end.accept();
}
