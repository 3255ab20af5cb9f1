import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { SocketEnd } from "../world/socket-end.js";
import { requestOf, sendResponse } from "./http-messages.js";
import { bridge } from "./socket-bridge.js";
import { loadWs } from "./load-ws.js";

export interface HttpServer {
  /** Where it listens: on this machine alone. */
  readonly url: string;
  /** Breaks what is open, and listens no more. */
  close(): Promise<void>;
}

/**
 * Serves what `answer` answers over HTTP, and over WebSockets what it answers with a socket, at a free port.
 *
 * @throws Error when the package ws is missing
 */
export async function serveHttp(answer: (request: Request) => Promise<Response>): Promise<HttpServer> {
  const { WebSocketServer } = await loadWs();
  const upgrades = new WebSocketServer({
    noServer: true,
    // The router has chosen the one that it speaks.
    handleProtocols: (_offered, { chosenProtocol }: IncomingMessage & { chosenProtocol?: string }) =>
      chosenProtocol ?? false,
  });
  const server = createServer((message, response) => void respond(message, response, answer));
  server.on("upgrade", (message: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    void answer(requestOf(message)).then(
      (answered) => {
        const end = answered.webSocket as unknown as SocketEnd | null | undefined;
        if (!end) return void socket.end(`HTTP/1.1 ${answered.status} Refused\r\nConnection: close\r\n\r\n`);
        const chosenProtocol = answered.headers.get("sec-websocket-protocol") ?? undefined;
        upgrades.handleUpgrade(Object.assign(message, { chosenProtocol }), socket, head, (opened) =>
          bridge(opened, end),
        );
      },
      () => socket.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of upgrades.clients) socket.terminate();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  message: IncomingMessage,
  response: ServerResponse,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  try {
    await sendResponse(await answer(requestOf(message, gone.signal)), response);
  } catch {
    response.destroy();
  }
}
