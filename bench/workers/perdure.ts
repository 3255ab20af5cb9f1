/** The actors that `npm run bench` measures. Each has its counterpart in bare.ts. */
import { actor, setup } from "perdure";
import { createHandler } from "perdure/cloudflare";
import { Loop, workflow } from "perdure/workflow";

interface Env {
  readonly ACTORS: DurableObjectNamespace<MeasuredActor>;
}

const value = actor({
  state: { value: 0 },
  actions: {
    get: (c) => c.state.value,
    set: (c, next: number) => {
      c.state.value = next;
      return next;
    },
  },
});

/** Takes messages, one after the other, each with a step that changes state. */
const inbox = actor({
  state: { taken: 0 },
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      await loop.queue.next("wait");
      await loop.step("take", (step) => {
        step.state.taken += 1;
      });
    });
  }),
  actions: {
    get: (c) => c.state.taken,
    /** Sends messages to itself, and answers when the workflow has taken the last. */
    fill: async (c, count: number) => {
      const wanted = c.state.taken + count;
      for (let index = 0; index < count; index += 1) await c.queue.send("work", index);
      while (c.state.taken < wanted) await scheduler.wait(1);
      return count;
    },
  },
});

/** Answers messages. */
const echo = actor({
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const message = await loop.queue.next("wait", { completable: true });
      await message.complete(message.body);
    });
  }),
});

/** Runs as many steps as a message says, and answers when they are done. */
const steps = actor({
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const message = await loop.queue.next("wait", { completable: true });
      const count = message.body as number;
      for (let index = 0; index < count; index += 1) await loop.step(`step-${index}`, () => index);
      await message.complete(count);
    });
  }),
});

/** The same with steps that change state. */
const changing = actor({
  state: { sum: 0 },
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const message = await loop.queue.next("wait", { completable: true });
      const count = message.body as number;
      for (let index = 0; index < count; index += 1)
        await loop.step(`step-${index}`, (step) => {
          step.state.sum += 1;
          return index;
        });
      await message.complete(count);
    });
  }),
});

/** Runs as many iterations as a message says, each with a step that changes state, and answers when they are done. */
const loops = actor({
  state: { sum: 0 },
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const message = await loop.queue.next("wait", { completable: true });
      const count = message.body as number;
      await loop.loop({
        name: "iterations",
        state: 0,
        run: async (round, index: number) => {
          if (index === count) return Loop.break(undefined);
          await round.step("add", (step) => {
            step.state.sum += 1;
          });
          return Loop.continue(index + 1);
        },
      });
      await message.complete(count);
    });
  }),
  actions: { get: (c) => c.state.sum },
});

/** Sleeps until a message's time, again and again, and says how late each wake was. */
const sleeper = actor({
  state: { lateMs: [] as number[] },
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const { body } = await loop.queue.next("wait");
      const at = body as number;
      await loop.sleepUntil("sleep", at);
      await loop.step("woken", (step) => {
        step.state.lateMs.push(Date.now() - at);
      });
    });
  }),
  actions: { get: (c) => c.state.lateMs },
});

/** Keeps a history of as many steps as its first message says, and moves by each later one. */
const long = actor({
  state: { moves: 0 },
  run: workflow(async (ctx) => {
    const first = await ctx.queue.next("first", { completable: true });
    const count = first.body as number;
    for (let index = 0; index < count; index += 1)
      await ctx.step(`step-${index}`, () => ({ index, text: "as long as a small result" }));
    await first.complete(count);
    await ctx.loop("loop", async (loop) => {
      const message = await loop.queue.next("wait", { completable: true });
      await loop.step("move", (step) => {
        step.state.moves += 1;
      });
      await message.complete(0);
    });
  }),
  actions: { get: (c) => c.state.moves },
});

/** Works without an end, and tells a server so. */
const beating = actor({
  run: workflow(async (ctx) => {
    const { body } = await ctx.queue.next("begin");
    await ctx.loop("loop", async (loop) => {
      await loop.step("beat", async () => {
        await fetch(body as string);
        await scheduler.wait(20);
      });
    });
  }),
});

/** Tells all that are connected. */
const room = actor({
  state: { value: 0 },
  actions: {
    get: (c) => c.state.value,
    set: (c, next: number) => {
      c.state.value = next;
      return next;
    },
    tell: (c, n: number) => c.broadcast("n", n),
  },
});

const handler = createHandler(
  setup({ use: { value, inbox, echo, steps, changing, loops, sleeper, long, beating, room } }),
  {
    fetch: (request, env: Env) => route(request, env),
  },
);

/** Our object, with a look at what it writes, and an end to its time in memory. */
class MeasuredActor extends handler.ActorObject {
  #alarms = 0;
  #found = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    const setAlarm = ctx.storage.setAlarm.bind(ctx.storage);
    ctx.storage.setAlarm = (at, options) => {
      this.#alarms += 1;
      return setAlarm(at, options);
    };
    const { kv } = ctx.storage;
    const put = kv.put.bind(kv);
    kv.put = (key: string, value: unknown) => {
      if (key === "l") this.#found += 1;
      put(key, value);
    };
    super(ctx, env);
  }

  /** `found`: how often it took it that work was cut off. */
  written(): { rows: number; alarms: number; found: number } {
    return {
      found: this.#found,
      rows: Number(this.ctx.storage.sql.exec("select total_changes() as rows").one()["rows"]),
      alarms: this.#alarms,
    };
  }

  evict(): void {
    this.ctx.abort("evicted");
  }
}
export { MeasuredActor as ActorObject };

/** POST /object/{method}/{actor}/{key}. */
async function route(request: Request, env: Env): Promise<Response> {
  const [, , method, actor, key] = new URL(request.url).pathname.split("/");
  const stub = env.ACTORS.get(env.ACTORS.idFromName(JSON.stringify([actor, key])));
  return Response.json({ output: method === "evict" ? await stub.evict() : await stub.written() });
}

export default handler;
