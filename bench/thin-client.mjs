// The smallest client there can be: one socket kept open, one request at a time, JSON. What Node's `fetch` costs is not in
// its times, so that the share of the two sides in them is larger.
import { once } from "node:events";
import { connect } from "node:net";

export class ThinClient {
  /** @type {import("node:net").Socket} */
  #socket;
  #port;
  /** @type {Buffer} */
  #received = Buffer.alloc(0);
  /** @type {{ resolve: (body: string) => void, reject: (error: Error) => void } | undefined} */
  #waiting;

  /** @param {number} port */
  constructor(port) {
    this.#port = port;
    this.#socket = connect({ host: "127.0.0.1", port, noDelay: true });
    this.#socket.on("data", (chunk) => this.#receive(Buffer.from(chunk)));
    this.#socket.on("error", (error) => this.#waiting?.reject(error));
    this.#socket.on("close", () => this.#waiting?.reject(new Error("The server closed the socket")));
  }

  async open() {
    if (this.#socket.connecting) await once(this.#socket, "connect");
    return this;
  }

  /**
   * @param {string} path
   * @param {unknown} body
   * @returns {Promise<any>}
   */
  async post(path, body) {
    const text = JSON.stringify(body);
    const answer = new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${this.#port}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(text)}`,
    ];
    this.#socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
    return JSON.parse(/** @type {string} */ (await answer)).output;
  }

  close() {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  /** @param {Buffer} chunk */
  #receive(chunk) {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const head = this.#received.indexOf("\r\n\r\n");
    if (head < 0) return;
    const headers = this.#received.toString("latin1", 0, head);
    const rest = this.#received.subarray(head + 4);
    const length = /^content-length: *(\d+)/im.exec(headers)?.[1];
    const body = length === undefined ? unchunked(rest) : rest.length >= Number(length) ? rest.toString() : undefined;
    if (body === undefined) return;
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (headers.startsWith("HTTP/1.1 2")) waiting?.resolve(body);
    else waiting?.reject(new Error(`${headers.split("\r\n")[0]}: ${body}`));
  }
}

/**
 * The body, if its last chunk has come.
 *
 * @param {Buffer} bytes
 */
function unchunked(bytes) {
  const parts = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (bytes.length < end + 2 + size + 2) return undefined;
    if (size === 0) return Buffer.concat(parts).toString();
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
