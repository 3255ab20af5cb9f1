// What is measured of all peers: the jobs of bench/jobs/ that the others have something for.
import { setTimeout as delay } from "node:timers/promises";
import { median, timed, timesOf } from "../measure.mjs";
import { ThinClient } from "../thin-client.mjs";
import { PeerSocket } from "./client.mjs";
import { rounds, rowOf } from "./turns.mjs";

/**
 * @typedef {import("./turns.mjs").Running} Running
 * @typedef {import("./peers.mjs").Method} Method
 * @typedef {{ rounds: number, isQuick: boolean, fresh: () => number }} Bench
 * @typedef {{ name: string, title: string, note?: string, run: (bench: Bench, peers: readonly Running[]) =>
 *   Promise<import("./turns.mjs").Row[]> }} Job
 */

const CALLERS = 32;
const HOUR_MS = 3_600_000;

/** @type {readonly Job[]} */
export const JOBS = [
  {
    name: "write",
    title: "A write over HTTP",
    run: async (bench, peers) => {
      const count = bench.isQuick ? 5 : 150;
      const measured = await rounds(having(peers, "set"), bench, async (running) => {
        const byFetch = median(await timesOf(count, () => post(running, callOf(running, "set", "one", bench.fresh()))));
        const before = running.processes.cpuMs;
        const thin = await sequential(running, count, () => callOf(running, "set", "one", bench.fresh()));
        return { byFetch, thin, cpu: (running.processes.cpuMs - before) / count };
      });
      return [
        rowOf(measured, "thin", { name: "write" }),
        rowOf(measured, "byFetch", { name: "write, Node's fetch" }),
        rowOf(measured, "cpu", { name: "write, CPU of all processes" }),
      ];
    },
  },
  {
    name: "read",
    title: "A read over HTTP",
    run: async (bench, peers) => {
      const count = bench.isQuick ? 5 : 150;
      const measured = await rounds(having(peers, "get"), bench, async (running) => ({
        thin: await sequential(running, count, () => callOf(running, "get", "one")),
      }));
      return [rowOf(measured, "thin", { name: "read" })];
    },
  },
  {
    name: "create",
    title: "A new actor and its first call",
    run: async (bench, peers) => {
      const measured = await rounds(peers, bench, async (running) => ({
        thin: await sequential(running, bench.isQuick ? 3 : 30, () => {
          const value = running.peer.creates === "set" ? 1 : Date.now() + HOUR_MS;
          return callOf(running, running.peer.creates, `new-${bench.fresh()}`, value);
        }),
      }));
      return [rowOf(measured, "thin", { name: "new actor, first call a write; a new instance" })];
    },
  },
  {
    name: "concurrency",
    title: `${CALLERS} callers of one actor`,
    run: async (bench, peers) => {
      const each = bench.isQuick ? 2 : 15;
      const measured = await rounds(having(peers, "set"), bench, async (running) => {
        const clients = await Promise.all(
          Array.from({ length: CALLERS }, () => new ThinClient(running.processes.port).open()),
        );
        const ms = await timed(() =>
          Promise.all(
            clients.map(async (client) => {
              for (let index = 0; index < each; index += 1) {
                const { path, body } = callOf(running, "set", "one", bench.fresh());
                await client.post(path, body);
              }
            }),
          ),
        );
        for (const client of clients) client.close();
        return { perCall: ms / (each * CALLERS) };
      });
      return [rowOf(measured, "perCall", { name: `a write of ${CALLERS} callers, of all the time` })];
    },
  },
  {
    name: "sockets",
    title: "Writes over a WebSocket",
    run: async (bench, peers) => {
      const count = bench.isQuick ? 5 : 200;
      const having = peers.filter(({ peer }) => peer.socket !== undefined);
      const measured = await rounds(having, bench, async ({ peer, processes }) => {
        const socket = /** @type {import("./peers.mjs").Socket} */ (peer.socket);
        const client = await new PeerSocket(socket, processes.url, "one").open();
        const one = median(await timesOf(count, () => client.set(bench.fresh())));
        const each = Math.ceil(count / 8);
        const all = await timed(() =>
          Promise.all(Array.from({ length: CALLERS }, () => timesOf(each, () => client.set(bench.fresh())))),
        );
        client.close();
        return { one, inFlight: all / (CALLERS * each) };
      });
      return [
        rowOf(measured, "one", { name: "write over a socket" }),
        rowOf(measured, "inFlight", { name: `write over a socket, ${CALLERS} in flight` }),
      ];
    },
  },
  {
    name: "steps",
    title: "Steps of a workflow",
    run: async (bench, peers) => {
      const count = bench.isQuick ? 10 : 200;
      const measured = await rounds(having(peers, "steps"), bench, async (running) => {
        const key = `steps-${bench.fresh()}`;
        return { step: (await timed(() => post(running, callOf(running, "steps", key, count)))) / count };
      });
      return [rowOf(measured, "step", { name: `a step of ${count}` })];
    },
  },
  {
    name: "messages",
    title: "Messages from outside",
    run: async (bench, peers) => {
      const count = bench.isQuick ? 5 : 100;
      const sent = await rounds(having(peers, "send"), bench, async (running) => {
        // By itself each: what one turn has left to take is no burden of the next.
        const key = `inbox-${bench.fresh()}`;
        if (running.peer.open) {
          await post(running, running.peer.open(key));
          await delay(300);
        }
        return { thin: await sequential(running, count, () => callOf(running, "send", key, bench.fresh())) };
      });
      const replied = await rounds(having(peers, "request"), bench, async (running) => ({
        thin: await sequential(running, count, () => callOf(running, "request", "one", bench.fresh())),
      }));
      return [
        rowOf(sent, "thin", { name: "message accepted for a workflow or a queue" }),
        rowOf(replied, "thin", { name: "request and reply through the queue" }),
      ];
    },
  },
  {
    name: "sleepers",
    title: "Sleepers that are due at one instant",
    run: async (bench, peers) => {
      const count = bench.isQuick ? 3 : 20;
      const measured = await rounds(
        having(peers, "sleepUntil"),
        { rounds: few(bench), warmUps: 0 },
        async (running) => {
          const keys = Array.from({ length: count }, () => `sleeper-${bench.fresh()}`);
          const at = Date.now() + (bench.isQuick ? 1_500 : 2_500);
          for (const key of keys) await post(running, callOf(running, "sleepUntil", key, at));
          if (Date.now() > at - 200) throw new Error(`${count} were not asleep in time`);
          // Nobody is asked while others are still to wake: asking starts an actor.
          await delay(at + 1_500 - Date.now());
          /** @type {number[]} */
          const late = [];
          for (const key of keys) late.push(await latenessOf(running, key));
          return { median: median(late), last: Math.max(...late) };
        },
      );
      return [
        rowOf(measured, "median", { name: `wake after its time, the median of ${count}` }),
        rowOf(measured, "last", { name: `wake after its time, the last of ${count}` }),
      ];
    },
  },
  {
    name: "idle",
    title: "What an idle actor holds",
    run: async (bench, peers) => {
      const count = bench.isQuick ? 10 : 200;
      const grown = async (
        /** @type {Running} */ running,
        /** @type {Method} */ method,
        /** @type {number} */ value,
      ) => {
        const { processes } = running;
        const client = await new ThinClient(processes.port).open();
        const before = { memory: processes.residentKiB, disk: processes.storedKiB };
        for (let index = 0; index < count; index += 1) {
          const { path, body } = callOf(running, method, `idle-${bench.fresh()}`, value);
          await client.post(path, body);
        }
        client.close();
        return {
          memory: (processes.residentKiB - before.memory) / count,
          disk: (processes.storedKiB - before.disk) / count,
        };
      };
      const live = await rounds(having(peers, "set"), { rounds: few(bench) }, (running) => grown(running, "set", 1));
      const asleep = await rounds(having(peers, "sleepUntil"), { rounds: few(bench) }, (running) =>
        grown(running, "sleepUntil", Date.now() + HOUR_MS),
      );
      return [
        rowOf(live, "memory", { name: "memory of an actor that was called", unit: "KiB" }),
        rowOf(asleep, "memory", { name: "memory of one that sleeps for an hour", unit: "KiB" }),
        rowOf(live, "disk", { name: "disk of an actor with a number", unit: "KiB" }),
        rowOf(asleep, "disk", { name: "disk of one that sleeps for an hour", unit: "KiB" }),
      ];
    },
  },
];

/** @param {readonly Running[]} peers @param {Method} method */
export function having(peers, method) {
  return peers.filter(({ peer }) => peer.calls[method] !== undefined);
}

/** Turns of what is long. @param {Bench} bench */
export function few(bench) {
  return Math.min(bench.rounds, 3);
}

/**
 * @param {Running} running
 * @param {Method} method
 * @param {string} key
 * @param {unknown[]} args
 */
export function callOf({ peer }, method, key, ...args) {
  const make = /** @type {(key: string, ...args: unknown[]) => import("../calls.mjs").Call} */ (peer.calls[method]);
  return make(key, ...args);
}

/**
 * What an action returns.
 *
 * @param {Running} running
 * @param {import("../calls.mjs").Call} call
 * @returns {Promise<any>}
 */
export async function post(running, call) {
  return (await answerTo(running, call)).output;
}

/**
 * @param {Running} running
 * @param {import("../calls.mjs").Call} call
 * @returns {Promise<any>}
 */
export async function answerTo({ peer, processes }, { path, body }) {
  const response = await fetch(processes.url + path, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${peer.name}${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

/**
 * The median of calls one after the other, by the thin client.
 *
 * @param {Running} running
 * @param {number} count
 * @param {() => import("../calls.mjs").Call} make
 */
async function sequential({ processes }, count, make) {
  const client = await new ThinClient(processes.port).open();
  try {
    return median(
      await timesOf(count, () => {
        const { path, body } = make();
        return client.post(path, body);
      }),
    );
  } finally {
    client.close();
  }
}

/** @param {Running} running @param {string} key @returns {Promise<number>} */
async function latenessOf(running, key) {
  for (;;) {
    const [lateMs] = await post(running, callOf(running, "lateMs", key));
    if (lateMs !== undefined) return lateMs;
    await delay(50);
  }
}
