// The jobs as one writes them with RivetKit: the same actors as ours in bench/workers/perdure.ts.
import { setTimeout as delay } from "node:timers/promises";
import { actor, queue, setup } from "rivetkit";
import { workflow } from "rivetkit/workflow";

/** A message to a queue that is not declared is dropped. */
const queues = { work: queue() };

const value = actor({
  state: { value: 0 },
  actions: {
    get: (c) => c.state.value,
    set: (c, next) => {
      c.state.value = next;
      return next;
    },
  },
});

const inbox = actor({
  queues,
  state: { taken: 0 },
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      await loop.queue.next("wait");
      await loop.step("take", async (step) => {
        step.state.taken += 1;
      });
    });
  }),
  actions: { get: (c) => c.state.taken },
});

const echo = actor({
  queues,
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const message = await loop.queue.next("wait", { completable: true });
      await message.complete(message.body);
    });
  }),
});

const steps = actor({
  queues,
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const message = await loop.queue.next("wait", { completable: true });
      const count = message.body;
      for (let index = 0; index < count; index += 1) await loop.step(`step-${index}`, async () => index);
      await message.complete(count);
    });
  }),
});

const sleeper = actor({
  queues,
  state: { lateMs: [] },
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const { body: at } = await loop.queue.next("wait");
      await loop.sleepUntil("sleep", at);
      await loop.step("woken", async (step) => {
        step.state.lateMs.push(Date.now() - at);
      });
    });
  }),
  actions: { get: (c) => c.state.lateMs },
});

const beating = actor({
  queues,
  run: workflow(async (ctx) => {
    const { body: url } = await ctx.queue.next("begin");
    await ctx.loop("loop", async (loop) => {
      await loop.step("beat", async () => {
        await fetch(url);
        await delay(20);
      });
    });
  }),
});

setup({ use: { value, inbox, echo, steps, sleeper, beating } }).start();
