import { actor, event, queue, setup, UserError } from "perdure";
import { createHandler } from "perdure/cloudflare";
import { room } from "./room.js";
import { showValue } from "./show-value.js";

/** Gives values back, and says what they were when they arrived. */
const values = actor({
  state: {},
  actions: {
    echo: (_c, value: unknown) => value,
    show: (_c, value: unknown) => showValue(value),
    make: (_c, what: "set" | "minusZero" | "fields") => ({ set: new Set([1n, "a"]), minusZero: -0, fields: { a: undefined, b: [undefined, null] } })[what],
    count: (_c, ...args: unknown[]) => args.length,
    users: {
      add: (_c, name: string, age: number) => `${name} is ${age}`,
      list: { all: (_c) => ["ann"] },
    },
    action: (_c, text: string) => `action ${text}`,
  },
  onRequest: async (_c, request) => {
    const { pathname, search } = new URL(request.url);
    return Response.json({ method: request.method, path: pathname + search, own: request.headers.get("x-own"), body: await request.text() });
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
  queues: { jobs: queue<unknown, unknown>(), left: queue<unknown>(), refused: queue<unknown>({ canPublish: () => false }) },
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

/** Declares no queues, so that every name is taken. */
const inbox = actor({
  state: {},
  actions: {
    take: async (c) => {
      const message = await c.queue.tryNext();
      return message && [message.name, message.body];
    },
  },
});

const handler = createHandler(setup({ use: { values, counter, failing, worker, inbox, room } }), { logLevel: "silent" });

export const { ActorObject } = handler;
export default handler;
