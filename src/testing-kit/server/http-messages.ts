import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A request of Node's server as the web has them. `signal` aborts when its sender has gone. */
export function requestOf(message: IncomingMessage, signal?: AbortSignal): Request {
  const { method = "GET", url = "/", headersDistinct } = message;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct))
    for (const value of values) headers.append(name, value);
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(new URL(url, `http://${headers.get("host") ?? "127.0.0.1"}`), {
    method,
    headers,
    ...(signal && { signal }),
    ...(hasBody && { body: Readable.toWeb(message) as unknown as ReadableStream, duplex: "half" }),
  });
}

/** Rejects when the one who asked has gone, or the body breaks off. */
export async function sendResponse(response: Response, to: ServerResponse): Promise<void> {
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  to.writeHead(response.status, headers);
  if (response.body === null) to.end();
  else await pipeline(Readable.fromWeb(response.body as never), to);
}
