// Signs of life of work that goes on: each is a request to a server here.
import { createServer } from "node:http";

const LIMIT_MS = 60_000;

/** A server that is told of each piece of work. */
export class Beats {
  #server;
  /** @type {Map<string, (at: number) => void>} */
  #waiting = new Map();

  /** @param {import("node:http").Server} server */
  constructor(server) {
    this.#server = server;
    server.on("request", (request, response) => {
      response.end();
      const name = (request.url ?? "").slice(1);
      this.#waiting.get(name)?.(performance.now());
      this.#waiting.delete(name);
    });
  }

  static async listen() {
    const server = createServer();
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    return new Beats(server);
  }

  /** @param {string} name */
  url(name) {
    const address = /** @type {import("node:net").AddressInfo} */ (this.#server.address());
    return `http://127.0.0.1:${address.port}/${name}`;
  }

  /**
   * When the next beat of this name comes.
   *
   * @param {string} name
   * @param {number} [limitMs]
   * @returns {Promise<number>}
   */
  next(name, limitMs = LIMIT_MS) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${name} did nothing for ${limitMs} ms`)), limitMs);
      this.#waiting.set(name, (at) => {
        clearTimeout(timer);
        resolve(at);
      });
    });
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
