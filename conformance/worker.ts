import { actor, event, queue, setup, UserError } from "perdure";
import { createHandler } from "perdure/cloudflare";
import { unauthorizedError } from "perdure/errors";
import { inspector } from "perdure/inspector";
import { inspected } from "./inspected.js";
import { room } from "./room.js";
import { showValue } from "./show-value.js";

/** Gives values back, and says what they were when they arrived. */
const values = actor({
  state: {},
  actions: {
    echo: (_c, value: unknown) => value,
    show: (_c, value: unknown) => showValue(value),
    make: (_c, what: "set" | "minusZero" | "fields") =>
      ({ set: new Set([1n, "a"]), minusZero: -0, fields: { a: undefined, b: [undefined, null] } })[what],
    count: (_c, ...args: unknown[]) => args.length,
    users: {
      add: (_c, name: string, age: number) => `${name} is ${age}`,
      list: { all: (_c) => ["ann"] },
    },
    action: (_c, text: string) => `action ${text}`,
  },
  onRequest: async (_c, request) => {
    const { pathname, search } = new URL(request.url);
    return Response.json({
      method: request.method,
      path: pathname + search,
      own: request.headers.get("x-own"),
      body: await request.text(),
    });
  },
});

const counter = actor({
  createState: (c, input: { start?: number } | undefined) => ({ count: input?.start ?? 0, key: [...c.key] }),
  actions: {
    increment: (c, by: number) => (c.state.count += by),
    getCount: (c) => c.state.count,
    getKey: (c) => c.state.key,
    getId: (c) => c.actorId,
    end: (c) => c.destroy(),
  },
});

const failing = actor({
  state: {},
  options: { actionTimeout: 300 },
  actions: {
    user: () => {
      throw new UserError("The show is sold out", { code: "sold_out", metadata: { left: 0, waiting: ["ann"] } });
    },
    plainUser: () => {
      throw new UserError("No code");
    },
    internal: () => {
      throw new Error("the password is hunter2");
    },
    never: () => new Promise(() => {}),
    notSerializable: () => new (class Custom {})(),
  },
});

const worker = actor({
  state: { handled: [] as unknown[] },
  queues: {
    jobs: queue<unknown, unknown>(),
    left: queue<unknown>(),
    refused: queue<unknown>({ canPublish: () => false }),
  },
  events: { done: event<string>() },
  options: { actionTimeout: 300, maxQueueSize: 3, maxQueueMessageSize: 1000 },
  actions: { handled: (c) => c.state.handled },
  run: async (c) => {
    for await (const message of c.queue.iter({ names: ["jobs"], completable: true })) {
      c.state.handled.push(message.body);
      await message.complete({ done: message.body });
    }
  },
});

/** Declares no queues and has a run handler, so that every name is taken. */
const inbox = actor({
  state: { taken: [] as unknown[] },
  run: async (c) => {
    for await (const { name, body } of c.queue.iter()) c.state.taken.push([name, body]);
  },
  actions: { taken: (c) => c.state.taken },
});

/** Lets in and creates for those who know the word. */
const club = actor({
  state: { members: 0 },
  canCreate: (c, input: { word: string } | undefined) => c.internal || input?.word === "swordfish",
  onBeforeConnect: (_c, params: { word: string } | undefined) => {
    if (params?.word !== "swordfish") throw unauthorizedError();
  },
  actions: { enter: (c) => (c.state.members += 1) },
});
/** Asks everybody at the door, and was not written for mere creations. */
const lodge = actor({
  state: {},
  onBeforeConnect: (_c, params: { word: string }) => {
    if (params.word !== "swordfish") throw new UserError("Not you", { code: "unwelcome" });
  },
  actions: { enter: () => "in" },
});

const handler = createHandler(
  setup({ use: { values, counter, failing, worker, inbox, club, lodge, room, inspected } }),
  {
    logLevel: "silent",
    inspector: inspector({ token: "inspect-me" }),
    authorize: (_request, target) => !("key" in target) || target.key[0] !== "forbidden",
  },
);

export const { ActorObject } = handler;
export default handler;
