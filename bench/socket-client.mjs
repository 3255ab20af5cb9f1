// A WebSocket to an object: calls over it, and events.
import { once } from "node:events";

const PATH = "/gateway/room/connect?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=";
const PROTOCOLS = ["rivet", "rivet_encoding.json"];

export class SocketClient {
  #socket;
  #isBare;
  #lastId = 0;
  /** @type {Map<number, (output: unknown) => void>} */
  #calls = new Map();
  /** Called for each event. */
  onEvent = () => {};

  /**
   * @param {import("./side.mjs").Side} side
   * @param {string} key
   */
  constructor(side, key) {
    const url = side.url.replace(/^http/, "ws");
    this.#isBare = side.name === "bare";
    this.#socket = this.#isBare
      ? new WebSocket(`${url}/socket/room-${key}`)
      : new WebSocket(url + PATH + key, PROTOCOLS);
    this.#socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(String(data))));
  }

  async open() {
    await new Promise((resolve, reject) => {
      this.#socket.addEventListener("open", resolve);
      this.#socket.addEventListener("error", () => reject(new Error("A socket could not be opened")));
    });
    return this;
  }

  /** Events are for those that ask; by hand for all. */
  subscribe() {
    if (!this.#isBare) this.#send("SubscriptionRequest", { eventName: "n", subscribe: true });
  }

  /**
   * @param {string} name
   * @param {unknown[]} args
   */
  call(name, ...args) {
    const id = (this.#lastId += 1);
    const answer = new Promise((resolve) => this.#calls.set(id, resolve));
    if (this.#isBare) this.#socket.send(JSON.stringify({ id, name, args }));
    else this.#send("ActionRequest", { id, name, args });
    return answer;
  }

  async close() {
    const closed = once(this.#socket, "close");
    this.#socket.close();
    await closed;
  }

  /**
   * @param {string} tag
   * @param {object} val
   */
  #send(tag, val) {
    this.#socket.send(JSON.stringify({ body: { tag, val } }));
  }

  /** @param {any} said */
  #receive(said) {
    const { tag, val } = this.#isBare ? { tag: "id" in said ? "ActionResponse" : "Event", val: said } : said.body;
    if (tag === "Event") this.onEvent();
    if (tag !== "ActionResponse") return;
    // A protocol of 64-bit ids has `["$BigInt", "1"]` in JSON.
    const id = Number([val.id].flat().at(-1));
    this.#calls.get(id)?.(val.output);
    this.#calls.delete(id);
  }
}
