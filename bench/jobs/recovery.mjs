// How long after a SIGKILL work goes on: from the start of the next process to the first sign of life. One object has worked
// for long when the process is killed, another has just begun; the lease of the first may run for longer. Beside them are
// actors that slept, and for which the kill is none.
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { action, call, message, written } from "../calls.mjs";
import { counted, figure } from "../measure.mjs";

const LIMIT_MS = 60_000;
/** Actors that sleep while the process is killed: what wakes them must not be taken for work that was cut off. */
const SLEEPERS = 20;
/** How long after the kill they sleep. */
const SLEEP_ON_MS = 2_500;

/** @type {import("../job.mjs").Job} */
export const recovery = {
  name: "recovery",
  title: "Work goes on after SIGKILL",
  run: async (bench) => {
    const [youngMs, oldMs] = [bench.pick(2_000, 200), bench.pick(20_000, 400)];
    const beats = await Beats.listen();
    let falseFinds = 0;
    let finds = 0;
    try {
      // New processes and storage each turn: nothing is warm, and nothing is left of a turn.
      /** @type {import("../measure.mjs").Turns} */
      const turns = { bare: [], perdure: [] };
      for (let round = 0; round < bench.pick(Math.min(bench.rounds, 3), 1); round += 1) {
        await bench.withSides(async (sides) => {
          for (const name of /** @type {const} */ (["bare", "perdure"])) {
            const side = sides[name];
            await beginWork(side, beats, "old");
            await delay(oldMs - youngMs);
            await beginWork(side, beats, "young");
            const wakeAt = Date.now() + youngMs + SLEEP_ON_MS;
            if (name === "perdure") await putToSleep(side, wakeAt);
            await delay(wakeAt - SLEEP_ON_MS - Date.now());
            await side.kill();
            const startedAt = performance.now();
            const since = async (/** @type {string} */ key) => (await beats.next(`${name}-${key}`)) - startedAt;
            const all = Promise.all([since("young"), since("old")]);
            await side.start();
            const [young, old] = await all;
            if (name === "perdure") {
              await delay(wakeAt + 1_000 - Date.now());
              for (let index = 0; index < SLEEPERS; index += 1)
                falseFinds += (await written(side, "sleeper", `${index}`)).found;
              for (const key of ["young", "old"]) finds += (await written(side, "beating", key)).found > 0 ? 1 : 0;
            }
            await side.kill();
            turns[name].push({ young, old });
          }
        });
      }
      return [
        figure(turns, "young", { name: `resume work that is ${youngMs / 1_000} s old`, goal: "1500 ms" }),
        counted({ name: "works that were found cut off", unit: "rows", perdure: finds }),
        counted({ name: "found that only slept", unit: "rows", perdure: falseFinds, goal: "0" }),
        figure(turns, "old", { name: `resume work that is ${oldMs / 1_000} s old`, goal: "10000 ms" }),
      ];
    } finally {
      beats.close();
    }
  },
};

/**
 * @param {import("../side.mjs").Side} side
 * @param {number} wakeAt
 */
async function putToSleep(side, wakeAt) {
  for (let index = 0; index < SLEEPERS; index += 1) await call(side, message(side, "sleeper", `${index}`, wakeAt));
}

/**
 * Resolves when the object has said once that it works.
 *
 * @param {import("../side.mjs").Side} side
 * @param {Beats} beats
 * @param {string} key
 */
async function beginWork(side, beats, key) {
  const url = beats.url(`${side.name}-${key}`);
  const first = beats.next(`${side.name}-${key}`);
  await call(
    side,
    side.name === "bare" ? action(side, "beating", key, "beat", url) : message(side, "beating", key, url),
  );
  await first;
}

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
