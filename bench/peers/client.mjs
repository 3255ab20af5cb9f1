// A WebSocket over which `set` is called, in each peer's own frames.
import { once } from "node:events";

export class PeerSocket {
  #socket;
  #peer;
  #lastId = 0;
  /** @type {Map<number, () => void>} */
  #calls = new Map();

  /**
   * @param {import("./peers.mjs").Socket} peer
   * @param {string} url
   * @param {string} key
   */
  constructor(peer, url, key) {
    this.#peer = peer;
    this.#socket = new WebSocket(url.replace(/^http/, "ws") + peer.path(key), peer.protocols ?? []);
    this.#socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(String(data))));
  }

  async open() {
    if (this.#socket.readyState === WebSocket.CONNECTING) await once(this.#socket, "open");
    return this;
  }

  /** @param {number} value @returns {Promise<void>} */
  set(value) {
    const id = (this.#lastId += 1);
    const answer = new Promise((resolve) => this.#calls.set(id, () => resolve(undefined)));
    this.#socket.send(JSON.stringify(this.#peer.frame(id, value)));
    return /** @type {Promise<void>} */ (answer);
  }

  close() {
    this.#socket.close();
  }

  /** @param {unknown} message */
  #receive(message) {
    const id = this.#peer.idOf(message);
    if (id === undefined) return;
    this.#calls.get(id)?.();
    this.#calls.delete(id);
  }
}
