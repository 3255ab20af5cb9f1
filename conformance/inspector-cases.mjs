// RivetKit's inspector: its own schemas of HTTP answers, and its own codec of socket frames.
import assert from "node:assert/strict";
import { becomes, withinSeconds } from "./judge.mjs";

const TOKEN = "inspect-me";

/**
 * @typedef {{
 *   url: (path: string) => string,
 *   actor: any,
 *   get: (path: string, init?: { method?: string, body?: unknown }) => Promise<any>,
 *   schemas: any,
 *   codec: any,
 * }} Inspected
 */

/** @type {readonly { readonly name: string, readonly run: (inspected: Inspected) => Promise<unknown> }[]} */
export const INSPECTOR_CASES = [
  {
    name: "state, read and replaced",
    async run({ get, schemas, actor }) {
      const shown = schemas.InspectorStateResponseSchema.parse(await get("state"));
      assert.equal(shown.isStateEnabled, true);
      assert.deepEqual(shown.state.total, ["$BigInt", "12"]);
      assert.deepEqual(await get("state", { method: "PATCH", body: { state: shown.state } }), { ok: true });
      assert.equal(await actor.add(1n), 13n);
    },
  },
  {
    name: "connections",
    async run({ get, schemas, actor }) {
      const connection = actor.connect();
      try {
        connection.on("told", () => {});
        await connection.give(1);
        const { connections } = schemas.InspectorConnectionsResponseSchema.parse(await get("connections"));
        assert.equal(connections.length, 1);
        assert.deepEqual(connections[0].details.state, { seat: 1 });
        assert.equal(connections[0].details.subscriptions, 1);
      } finally {
        await connection.dispose();
      }
    },
  },
  {
    name: "actions, listed and called",
    async run({ get, schemas }) {
      const { rpcs } = schemas.InspectorRpcsResponseSchema.parse(await get("rpcs"));
      assert.deepEqual(rpcs, ["add", "give", "plan", "touch"]);
      const call = async (/** @type {unknown} */ body) => {
        const request = schemas.InspectorActionRequestSchema.parse(body);
        return schemas.InspectorActionResponseSchema.parse(await get("action/give", { method: "POST", body: request }));
      };
      assert.deepEqual(await call({ args: [{ a: 1 }] }), { output: { a: 1 } });
      assert.deepEqual(await call({ properties: { b: 2 } }), { output: { b: 2 } });
    },
  },
  {
    name: "queue",
    async run({ get, schemas }) {
      const { id } = await get("queue", { method: "POST", body: { name: "waiting", body: { n: 1 } } });
      const shown = schemas.InspectorQueueResponseSchema.parse(await get("queue?limit=5"));
      assert.deepEqual(
        shown.messages.map((/** @type {any} */ message) => [message.id, message.name]),
        [[id, "waiting"]],
      );
      assert.deepEqual(await get("queue", { method: "DELETE" }), {});
      assert.equal(schemas.InspectorQueueResponseSchema.parse(await get("queue")).size, 0);
    },
  },
  {
    name: "socket: what it begins with, and what changes",
    async run(inspected) {
      const { actor, get } = inspected;
      await actor.plan();
      await get("queue", { method: "POST", body: { name: "payments", body: 1 } });
      const socket = await open(inspected);
      try {
        const init = await socket.next("Init");
        assert.deepEqual(
          [init.isStateEnabled, init.isDatabaseEnabled, init.isWorkflowEnabled, [...init.rpcs]],
          [true, true, true, ["add", "give", "plan", "touch"]],
        );
        assert.deepEqual([...init.tabConfig], [{ id: "console", label: null, icon: null, hidden: true }]);
        assert.deepEqual(init.schedules.map((/** @type {any} */ { kind }) => kind).sort(), ["at", "cron", "every"]);
        assert.ok(init.state.byteLength > 0);
        await actor.add(1n);
        await socket.next("StateUpdated");
        await get("queue", { method: "POST", body: { name: "waiting", body: 1 } });
        const { queueSize } = await socket.next("QueueUpdated");
        assert.ok(queueSize >= 1n);
      } finally {
        socket.end();
      }
    },
  },
  {
    name: "socket: the workflow's history, entry by entry",
    async run(inspected) {
      const { get, codec } = inspected;
      await get("queue", { method: "POST", body: { name: "payments", body: 1 } });
      const kindsOf = (/** @type {any} */ { entries }) =>
        [...new Set(entries.map((/** @type {any} */ { kind }) => kind.tag))].sort();
      await becomes(async () => kindsOf((await get("workflow-history")).history).length, 8);
      const socket = await open(inspected);
      try {
        await socket.next("Init");
        socket.ask("WorkflowHistoryRequest", { id: 7n });
        const { rid, history, isWorkflowEnabled } = await socket.next("WorkflowHistoryResponse");
        assert.deepEqual([rid, isWorkflowEnabled], [7n, true]);
        const decoded = codec.decodeWorkflowHistoryTransport(history);
        const overHttp = (await get("workflow-history")).history;
        assert.deepEqual([...decoded.nameRegistry], overHttp.nameRegistry);
        assert.deepEqual(kindsOf(decoded), kindsOf(overHttp));
        const place = (/** @type {any} */ { id, location }) => JSON.stringify([id, location]);
        assert.deepEqual(decoded.entries.map(place), overHttp.entries.map(place));
        const charge = decoded.entries.find((/** @type {any} */ { kind }) => kind.val.error === "502");
        assert.equal(decoded.entryMetadata.get(charge.id).status, "EXHAUSTED");
      } finally {
        socket.end();
      }
    },
  },
  {
    name: "socket: every request has its answer",
    async run(inspected) {
      await inspected.get("database/execute", { method: "POST", body: { sql: "INSERT INTO lines VALUES ('tea', 3)" } });
      const socket = await open(inspected);
      try {
        await socket.next("Init");
        /** @type {[string, any, string][]} */
        const asked = [
          ["StateRequest", {}, "StateResponse"],
          ["ConnectionsRequest", {}, "ConnectionsResponse"],
          ["ActionRequest", { name: "give", args: Uint8Array.of(0x81, 0x07).buffer }, "ActionResponse"],
          ["RpcsListRequest", {}, "RpcsListResponse"],
          ["TraceQueryRequest", { startMs: 0n, endMs: 1n, limit: 1n }, "TraceQueryResponse"],
          ["QueueRequest", { limit: 3n }, "QueueResponse"],
          ["DatabaseSchemaRequest", {}, "DatabaseSchemaResponse"],
          ["DatabaseTableRowsRequest", { table: "lines", limit: 5n, offset: 0n }, "DatabaseTableRowsResponse"],
          ["SchedulesRequest", {}, "SchedulesResponse"],
          ["WorkflowReplayRequest", { entryId: null }, "WorkflowReplayResponse"],
        ];
        let id = 100n;
        for (const [tag, val, answer] of asked) {
          id += 1n;
          socket.ask(tag, { id, ...val });
          assert.equal((await socket.next(answer)).rid, id);
        }
        // The output of the action is its argument: 7 in CBOR.
        assert.deepEqual([...new Uint8Array(socket.seen("ActionResponse").output)], [7]);
        socket.ask("DatabaseTableRowsRequest", { id: 1n, table: "none", limit: 5n, offset: 0n });
        assert.match((await socket.next("Error")).message, /not_found/);
      } finally {
        socket.end();
      }
    },
  },
  {
    name: "refused without the token, and for foreign pages",
    async run({ url }) {
      for (const headers of [
        {},
        { authorization: "Bearer wrong" },
        { authorization: `Bearer ${TOKEN}`, origin: "https://evil.example" },
      ]) {
        const { status } = await fetch(url("state"), { headers: /** @type {any} */ (headers) });
        assert.ok(status === 401 || status === 403, String(status));
      }
    },
  },
];

/** Of the published package, which is not installed where types are checked. */
const published = (/** @type {string} */ name) => /** @type {Promise<any>} */ (import(name));

/**
 * @param {string} endpoint
 * @param {any} client
 * @returns {Promise<{ name: string, reason?: string }[]>}
 */
export async function runInspector(endpoint, client) {
  const schemas = await published("rivetkit/inspector-tab");
  const codec = await published("rivetkit/inspector/client");
  /** @type {{ name: string, reason?: string }[]} */
  const outcomes = [];
  for (const [number, { name, run }] of INSPECTOR_CASES.entries()) {
    const key = `inspected-${number}`;
    const actor = client.inspected.getOrCreate([key]);
    const url = (/** @type {string} */ path) => {
      const query = `rvt-namespace=default&rvt-method=get&rvt-key=${key}`;
      return `${endpoint}/gateway/inspected/inspector/${path}${path.includes("?") ? "&" : "?"}${query}`;
    };
    const get = async (/** @type {string} */ path, /** @type {{ method?: string, body?: unknown }} */ init = {}) => {
      const { method = "GET", body } = init;
      const response = await fetch(url(path), {
        method,
        headers: { authorization: `Bearer ${TOKEN}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      assert.equal(response.status, 200, `${method} ${path}: ${await response.clone().text()}`);
      return response.json();
    };
    try {
      await actor.touch();
      await withinSeconds(30, run({ url, actor, get, schemas, codec }));
      outcomes.push({ name });
    } catch (error) {
      outcomes.push({ name, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
  return outcomes;
}

/**
 * A socket as RivetKit's dashboard opens it. Frames are read by its codec.
 *
 * @param {Inspected} inspected
 */
async function open({ url, codec }) {
  const socket = new WebSocket(url("connect").replace(/^http/, "ws"), ["rivet", `rivet_inspector_token.${TOKEN}`]);
  socket.binaryType = "arraybuffer";
  /** @type {any[]} */
  const frames = [];
  /** @type {(() => void)[]} */
  let waiting = [];
  const tell = () => {
    const told = waiting;
    waiting = [];
    for (const each of told) each();
  };
  socket.addEventListener("message", ({ data }) => {
    frames.push(codec.TO_CLIENT_VERSIONED.deserializeWithEmbeddedVersion(new Uint8Array(data)).body);
    tell();
  });
  socket.addEventListener("close", tell);
  await withinSeconds(
    10,
    new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", () => reject(new Error("the socket did not open")));
    }),
  );
  return {
    end: () => socket.close(),
    /** @param {string} tag */
    seen: (tag) => frames.findLast((frame) => frame.tag === tag)?.val,
    /** @param {string} tag @param {any} val */
    ask: (tag, val) => socket.send(codec.TO_SERVER_VERSIONED.serializeWithEmbeddedVersion({ body: { tag, val } }, 6)),
    /** The next frame of a kind behind those that were taken. @param {string} tag */
    async next(tag) {
      let at = 0;
      return withinSeconds(
        10,
        (async () => {
          for (;;) {
            for (; at < frames.length; at++) {
              if (frames[at].taken || frames[at].tag !== tag) continue;
              frames[at].taken = true;
              return frames[at].val;
            }
            if (socket.readyState > 1) throw new Error(`the socket ended before ${tag}`);
            await /** @type {Promise<void>} */ (new Promise((resolve) => waiting.push(() => resolve())));
          }
        })(),
      );
    },
  };
}
