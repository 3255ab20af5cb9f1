import { expect, it } from "vitest";
import { actor, queue } from "../../../src/actor/index.js";
import { decodeValue, encodeValue } from "../../../src/protocol/index.js";
import { single } from "../subject.js";

const DAY = 86_400_000;

it("an action with an enormous timeout is not timed out, and holds back no other", async () => {
  const { world, subject } = single(
    actor({
      options: { actionTimeout: 1e300 },
      actions: { hang: () => new Promise<void>(() => {}), next: (c) => c.queue.next({ timeout: 1_000 }) },
    }),
  );
  void subject.call("hang");
  await world.settle();
  const next = subject.call("next");
  await world.pass(1_000);
  expect(await next).toBe(undefined);
});

it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  "a wait in the queue with the timeout %s is refused, and stores nothing",
  async (timeout) => {
    const { subject } = single(
      actor({
        state: 1,
        actions: {
          next: (c) => c.queue.next({ timeout }),
          nextBatch: (c) => c.queue.nextBatch({ timeout, count: 2 }),
          waitForNames: (c) => c.queue.waitForNames(["q"], { timeout }),
          enqueueAndWait: (c) => c.queue.enqueueAndWait("q", 1, { timeout }),
          touch: () => {},
        },
      }),
    );
    for (const action of ["next", "nextBatch", "waitForNames", "enqueueAndWait"]) {
      await expect(subject.call(action), action).rejects.toMatchObject({
        group: "queue",
        code: "invalid_payload",
        statusCode: 400,
      });
    }
    expect(subject.store.keys).toEqual(["a", "s"]);
    expect(subject.timersHeld).toBe(0);
  },
);

it("an enqueueAndWait that is aborted leaves no timer; one that was aborted before sends nothing", async () => {
  const abort = new AbortController();
  const { world, subject } = single(
    actor({
      state: 1,
      actions: {
        ask: (c) =>
          c.queue
            .enqueueAndWait("q", 1, { timeout: 3_600_000, signal: abort.signal })
            .catch((error: { code: string }) => error.code),
      },
    }),
  );
  const asked = subject.call("ask");
  await world.settle();
  expect(subject.timersHeld).toBe(1);
  abort.abort();
  expect(await asked).toBe("aborted");
  expect(subject.timersHeld).toBe(0);
  const { rows } = subject.store;
  expect(await subject.call("ask")).toBe("aborted");
  expect(subject.store.rows).toBe(rows);
});

it("a send with wait that names no timeout waits for an enormous actionTimeout a day, as long as any", async () => {
  const { world, subject } = single(
    actor({
      state: 1,
      options: { actionTimeout: 1e300 },
      queues: { work: queue<number>() },
      actions: { ask: (c) => c.queue.enqueueAndWait("work", 1).catch((error: { code: string }) => error.code) },
    }),
  );
  const sent = await subject.send(
    { mode: "getOrCreate" },
    { kind: "send", queue: "work", body: encodeValue(1), wait: true },
  );
  expect(sent.ok && decodeValue(sent.output!)).toMatchObject({ waitMs: DAY });
  const asked = subject.call("ask");
  await world.pass(DAY);
  expect(await asked).toBe("timed_out");
});
