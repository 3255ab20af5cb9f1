// Messages: told apart by `name`, narrowed by `names`, with `complete` if asked for.
import {
  actor,
  queue,
  type AnyQueueName,
  type Completable,
  type QueueDeclaration,
  type QueueMessage,
  type QueueNames,
  type StandardSchema,
  type WorkflowMessage,
} from "perdure";
import { workflow } from "perdure/workflow";
import { exactly } from "./exactly.js";

interface Work {
  amount: number;
}
interface Control {
  type: "stop";
  reason: string;
}

interface Got<Id, N, B> {
  readonly id: Id;
  readonly name: N;
  readonly body: B;
  readonly createdAt: number;
}

export const declared = actor({
  queues: { work: queue<Work, { done: boolean }>(), control: queue<Control>(), any: queue() },
  run: workflow(async (ctx) => {
    const message = await ctx.queue.next("any of them");
    exactly<"work" | "control" | "any">()(message.name);
    exactly<bigint>()(message.id);
    exactly<number>()(message.createdAt);
    if (message.name === "work") exactly<Work>()(message.body);
    else if (message.name === "control") exactly<string>()(message.body.reason);
    else exactly<unknown>()(message.body);

    const named = await ctx.queue.next("two of them", { names: ["work", "control"], timeout: 30_000 });
    if (named.name === "work") exactly<Work>()(named.body);
    else exactly<Control>()(named.body);
    const one = await ctx.queue.next("one of them", { names: ["control"] });
    exactly<"stop">()(one.body.type);
    // @ts-expect-error `complete` needs `completable`
    void one.complete;

    const [first, ...others] = await ctx.queue.nextBatch("batch", { names: ["work"], count: 10, timeout: 30_000 });
    exactly<Got<bigint, "work", Work> | undefined>()(first);
    exactly<number[]>()(others.map(({ body }) => body.amount));
    if (!first) return;

    const held = await ctx.queue.next("completable", { names: ["work"], completable: true });
    exactly<void>()(await held.complete({ done: true }));
    // @ts-expect-error the declared reply
    await held.complete({ done: "yes" });
    // @ts-expect-error a reply is declared, so it is due
    await held.complete();
    const batch = await ctx.queue.nextBatch("completable batch", { completable: true });
    for (const each of batch) {
      if (each.name === "work") await each.complete({ done: true });
      else if (each.name === "control") await each.complete();
      else await each.complete({ any: "thing" });
    }
    // @ts-expect-error no reply is declared
    await (await ctx.queue.next("no reply", { names: ["control"], completable: true })).complete({ done: true });

    // @ts-expect-error no queue has that name
    await ctx.queue.next("wrong name", { names: ["work", "contrl"] });
    // @ts-expect-error a receive has a name
    await ctx.queue.next({ names: ["work"] });
    // @ts-expect-error a body's members
    void named.body.total;
    // @ts-expect-error only batches have a count
    await ctx.queue.next("count", { count: 2 });
  }),
});

// without declared queues any name is received, and nothing is known of the body
export const undeclared = actor({
  run: workflow(async (ctx) => {
    const [message] = await ctx.queue.nextBatch("wait", { timeout: 30_000 });
    if (!message) return;
    exactly<string>()(message.name);
    exactly<unknown>()(message.body);
    const task = message.body as { id: string };
    exactly<string>()(task.id);
    await ctx.queue.next("names", { names: ["whatever"] });
    const held = await ctx.queue.next("held", { completable: true });
    await held.complete();
    await held.complete({ any: "thing" });
    await ctx.step("send", (step) => step.queue.send("whatever", { any: "thing" }));
  }),
});

// actions and plain run handlers
export const plain = actor({
  queues: { work: queue<Work, { done: boolean }>(), control: queue<Control>() },
  run: async (c) => {
    for await (const message of c.queue) {
      exactly<number>()(message.id);
      if (message.name === "control") exactly<Control>()(message.body);
    }
    for await (const { body } of c.queue.iter({ names: ["work"], signal: c.abortSignal })) exactly<Work>()(body);
  },
  actions: {
    receive: async (c) => {
      const message = await c.queue.next({ names: ["work"], timeout: 100 });
      exactly<number | undefined>()(message?.body.amount);
      // @ts-expect-error it may have timed out
      void message.body;
      exactly<Control | undefined>()((await c.queue.tryNext({ names: ["control"] }))?.body);
      exactly<number[]>()((await c.queue.nextBatch({ names: ["work"], count: 5 })).map(({ body }) => body.amount));
      exactly<("work" | "control")[]>()((await c.queue.tryNextBatch()).map(({ name }) => name));
      const waited = await c.queue.waitForNames(["control"], { completable: true });
      exactly<Control>()(waited.body);
      await waited.complete();
      // @ts-expect-error no queue has that name
      await c.queue.waitForNames(["contrl"]);
      // @ts-expect-error nor here
      await c.queue.tryNext({ names: ["contrl"] });
    },
    send: async (c) => {
      const stored = await c.queue.send("work", { amount: 1 });
      exactly<number>()(stored.id);
      await c.queue.send("a name that is not declared", "anything");
      exactly<{ done: boolean } | undefined>()(await c.queue.enqueueAndWait("work", { amount: 1 }, { timeout: 100 }));
      exactly<unknown>()(await c.queue.enqueueAndWait("a name that is not declared", 1));
      // @ts-expect-error the declared body
      await c.queue.send("work", { amount: "1" });
      // @ts-expect-error the declared body
      await c.queue.enqueueAndWait("control", { amount: 1 });
    },
  },
});

// declarations with schemas: the sender gives the input, the receiver gets the output
declare const time: StandardSchema<string, Date>;
declare const answer: StandardSchema<{ ok: boolean }>;
export const validated = actor({
  queues: {
    bare: time,
    object: { message: time, complete: answer, canPublish: () => true },
    call: queue({ message: time, complete: answer }),
    explicit: queue<Date, number>({ message: time }),
    rule: queue({ canPublish: async (c) => c.conn !== undefined }),
  },
  actions: {
    receive: async (c) => {
      const message = await c.queue.next({ completable: true });
      if (message?.name === "bare") {
        exactly<Date>()(message.body);
        await message.complete();
      } else if (message?.name === "object" || message?.name === "call") {
        exactly<Date>()(message.body);
        await message.complete({ ok: true });
        // @ts-expect-error the schema's type
        await message.complete({ ok: 1 });
      } else if (message?.name === "explicit") {
        exactly<Date>()(message.body);
        await message.complete(1);
      } else if (message) exactly<unknown>()(message.body);
    },
    send: async (c) => {
      await c.queue.send("bare", "2026-01-01");
      await c.queue.send("object", "2026-01-01");
      exactly<{ ok: boolean } | undefined>()(await c.queue.enqueueAndWait("call", "2026-01-01"));
      await c.queue.send("explicit", new Date());
      // @ts-expect-error the schema's input
      await c.queue.send("bare", new Date());
    },
  },
});
// @ts-expect-error not a declaration
actor({ queues: { work: 5 } });
// @ts-expect-error not a schema
queue({ message: { parse: (value: unknown) => value } });

// the types by name
type Declared = { work: QueueDeclaration<Work, { done: boolean }> };
export function byName(
  names: QueueNames<Declared>,
  any: AnyQueueName<Declared>,
  message: QueueMessage<Declared>,
  held: WorkflowMessage<Declared, "work", true>,
): void {
  exactly<"work">()(names);
  exactly<string>()(any satisfies string as string);
  exactly<Work>()(message.body);
  exactly<Completable<{ done: boolean }>["complete"]>()(held.complete);
}
