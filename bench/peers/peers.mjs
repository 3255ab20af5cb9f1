// Who is measured: how each is started, and how the jobs are asked of it. What a peer has no such thing for, it leaves out.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { QUERY, Rivet, Wrangler } from "./processes.mjs";

/**
 * @typedef {import("../calls.mjs").Call} Call
 * @typedef {"set" | "get" | "send" | "request" | "steps" | "sleepUntil" | "lateMs" | "beat"} Method
 * @typedef {{ path: (key: string) => string, protocols?: string[], frame: (id: number, value: number) => unknown,
 *   idOf: (message: any) => number | undefined }} Socket
 * @typedef {object} Peer
 * @property {string} name
 * @property {string} title
 * @property {string} version
 * @property {string} promise what an answer to a write means, and how it was asked
 * @property {() => import("./processes.mjs").Processes} processes
 * @property {Partial<Record<Method, (key: string, ...args: any[]) => Call>>} calls
 * @property {Method} creates what makes something new of a key
 * @property {(key: string) => Call} [open] makes a workflow that waits for messages, where a message does not
 * @property {Socket} [socket] `set` over a WebSocket
 */

const here = import.meta.dirname;
const app = (/** @type {string} */ name) => join(here, "apps", `${name}.js`);
const worker = (/** @type {string} */ name) => join(here, "..", "workers", `${name}.ts`);

/** Methods by their own names, with a list of arguments. @param {(method: string, key: string) => string} path */
function plain(path) {
  const of =
    (/** @type {string} */ method) =>
    (/** @type {string} */ key, /** @type {unknown[]} */ ...args) => ({ path: path(method, key), body: { args } });
  return of;
}

/** Actions and messages at the gateway. */
const gateway = {
  action:
    (/** @type {string} */ actor, /** @type {string} */ name) =>
    (/** @type {string} */ key, /** @type {unknown[]} */ ...args) => ({
      path: `/gateway/${actor}/action/${name}${QUERY}${key}`,
      body: { args },
    }),
  message:
    (/** @type {string} */ actor, options = {}) =>
    (/** @type {string} */ key, /** @type {unknown} */ body) => ({
      path: `/gateway/${actor}/queue/work${QUERY}${key}`,
      body: { body, ...options },
    }),
};

/** Ours and RivetKit's: the same actors, and the same protocol. @type {Peer["calls"]} */
const actorCalls = {
  set: gateway.action("value", "set"),
  get: gateway.action("value", "get"),
  send: gateway.message("inbox"),
  request: gateway.message("echo", { wait: true, timeout: 30_000 }),
  steps: gateway.message("steps", { wait: true, timeout: 60_000 }),
  sleepUntil: gateway.message("sleeper"),
  lateMs: gateway.action("sleeper", "get"),
  beat: gateway.message("beating"),
};

/** @type {Socket} */
const actorSocket = {
  path: (key) => `/gateway/value/connect${QUERY}${key}`,
  protocols: ["rivet", "rivet_encoding.json"],
  frame: (id, value) => ({ body: { tag: "ActionRequest", val: { id, name: "set", args: [value] } } }),
  // A protocol of 64-bit ids has `["$BigInt", "1"]` in JSON.
  idOf: ({ body }) => (body.tag === "ActionResponse" ? Number([body.val.id].flat().at(-1)) : undefined),
};

const bare = plain((method, key) => `/${method}/${key}`);
const agents = plain((method, key) => `/agents/measured/${key}/${method}`);
const party = plain((method, key) => `/parties/measured/${key}/${method}`);
const instances = plain((method, key) => `/${method}/${key}`);

/** @type {readonly Peer[]} */
export const PEERS = [
  {
    name: "bare",
    title: "by hand",
    version: "",
    promise:
      "a Durable Object without a library: `storage.kv`, RPC, alarms. An answer leaves when the write is on " +
      "disk. Its steps are rows that wait for the disk each.",
    processes: () => new Wrangler("bare", { main: worker("bare"), objects: { ACTORS: "ActorObject" } }),
    calls: {
      set: bare("set"),
      get: bare("get"),
      send: bare("send"),
      request: bare("request"),
      steps: (key, count) => bare("steps")(key, count, true),
      sleepUntil: bare("sleepUntil"),
      lateMs: bare("lateMs"),
      beat: bare("beat"),
    },
    creates: "set",
    socket: {
      path: (key) => `/socket/${key}`,
      frame: (id, value) => ({ id, name: "set", args: [value] }),
      idOf: ({ id }) => id,
    },
  },
  {
    name: "perdure",
    title: "Perdure",
    version: versionIn(join(here, "..", "..", "package.json")),
    promise:
      "actions and workflows of `bench/workers/perdure.ts`. An answer leaves when the write is on disk; a step " +
      "runs until it succeeds once; a message is acknowledged when it is stored.",
    processes: () => new Wrangler("perdure", { main: worker("perdure"), objects: { ACTORS: "ActorObject" } }),
    calls: actorCalls,
    creates: "set",
    socket: actorSocket,
  },
  {
    name: "agents",
    title: "Agents SDK",
    version: installed("agents"),
    promise:
      "an `Agent`: `setState` (which also tells every connection), `onRequest` behind `routeAgentRequest`, " +
      "`@callable` over the socket. An answer leaves when the write is on disk. A step is a `stash` of a fiber: " +
      "a checkpoint, which your code reads after a crash. A message is `this.queue`. Schedules have whole " +
      "seconds.",
    processes: () => new Wrangler("agents", { main: app("agents"), objects: { Measured: "Measured" } }),
    calls: {
      set: agents("set"),
      get: agents("get"),
      send: agents("send"),
      steps: agents("steps"),
      sleepUntil: agents("sleepUntil"),
      lateMs: agents("lateMs"),
      beat: agents("beat"),
    },
    creates: "set",
    socket: {
      path: (key) => `/agents/measured/${key}`,
      frame: (id, value) => ({ type: "rpc", id: String(id), method: "set", args: [value] }),
      idOf: ({ type, id, success }) => (type === "rpc" && success ? Number(id) : undefined),
    },
  },
  {
    name: "partyserver",
    title: "PartyServer",
    version: installed("partyserver"),
    promise:
      "a `Server` that hibernates: `storage.put`, `onRequest` behind `routePartykitRequest`, `onMessage`, " +
      "`onAlarm`. An answer leaves when the write is on disk. It has no workflows and no queue.",
    processes: () => new Wrangler("partyserver", { main: app("partyserver"), objects: { Measured: "Measured" } }),
    calls: {
      set: party("set"),
      get: party("get"),
      sleepUntil: party("sleepUntil"),
      lateMs: party("lateMs"),
      beat: party("beat"),
    },
    creates: "set",
    socket: {
      path: (key) => `/parties/measured/${key}`,
      frame: (id, value) => ({ id, args: [value] }),
      idOf: ({ id }) => id,
    },
  },
  {
    name: "workflows",
    title: "Cloudflare Workflows",
    version: `of wrangler ${versionIn(join(here, "..", "..", "node_modules", "wrangler", "package.json"))}`,
    promise:
      "`step.do`, `step.sleepUntil`, `waitForEvent` and `sendEvent`, as `wrangler dev` emulates them: the " +
      "platform's own run elsewhere and otherwise. Something new is an instance; the end of its steps is found " +
      "by asking every 10 ms. It has no state that is called, no sockets and no reply to an event.",
    processes: () =>
      new Wrangler("workflows", {
        main: app("workflows"),
        workflows: { STEPS: "Steps", INBOX: "Inbox", SLEEPER: "Sleeper", BEATING: "Beating" },
      }),
    calls: {
      send: instances("send"),
      steps: instances("steps"),
      sleepUntil: instances("sleepUntil"),
      lateMs: instances("lateMs"),
      beat: instances("beat"),
    },
    creates: "sleepUntil",
    open: instances("open"),
  },
  {
    name: "rivetkit",
    title: "RivetKit",
    version: installed("rivetkit"),
    promise:
      "the same actors as ours, in Node beside its own engine (one process, its file system), not under " +
      "`wrangler dev`. An action answers before its state is saved: `c.state` is written within a second " +
      "(`stateSaveInterval`), and a crash before that loses it. Steps and messages are stored before they count.",
    processes: () => new Rivet(app("rivetkit")),
    calls: actorCalls,
    creates: "set",
    socket: actorSocket,
  },
];

/** The version of a package in the folder of the peers; none before they are installed. @param {string} name */
function installed(name) {
  const { dependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  return dependencies[name];
}

/** @param {string} path */
function versionIn(path) {
  return JSON.parse(readFileSync(path, "utf8")).version;
}
