import { describe, expect, it } from "vitest";
import { actor } from "../../../src/actor/index.js";
import { encodeValue } from "../../../src/protocol/index.js";
import { single } from "../subject.js";

const send = (queue: string, body: unknown) => ({ kind: "send", queue, body: encodeValue(body) }) as const;

function full() {
  const made = single(
    actor({
      queues: { jobs: {} },
      actions: {
        touch: () => {},
        next: async (c) => (await c.queue.tryNext())?.body,
      },
      onDestroy: () => {},
    }),
  );
  return {
    ...made,
    fill: async (count: number) => {
      for (let n = 0; n < count; n += 1)
        await made.subject.send({ mode: "getOrCreate" }, send("jobs", `${n} ${"x".repeat(60_000)}`));
    },
  };
}

/** The rows of messages that were read, and the most that were read at a time. */
function watched(subject: ReturnType<typeof full>["subject"]) {
  const seen = { rows: 0, most: 0 };
  const { store } = subject;
  const activate = store.activate.bind(store);
  store.activate = () => {
    const activation = activate();
    const list = activation.list.bind(activation);
    activation.list = (prefix, options) => {
      const found = [...list(prefix, options)];
      const messages = found.filter(([key]) => key.startsWith("m/")).length;
      seen.rows += messages;
      seen.most = Math.max(seen.most, messages);
      return found;
    };
    return activation;
  };
  return seen;
}

describe("a full queue", () => {
  it("is not read by a start that needs no message, nor by a destroy", async () => {
    const { subject, fill, world } = full();
    await fill(100);
    subject.crash();
    const seen = watched(subject);
    await subject.call("touch");
    expect(seen.rows).toBe(0);
    subject.crash();
    expect(await subject.send({ mode: "get" }, { kind: "destroy" })).toMatchObject({ ok: true });
    await world.settle();
    expect([seen.rows, subject.store.keys]).toEqual([0, []]);
  });

  it("is read a few rows at a time, each of them once, and gives its messages in their order", async () => {
    const { subject, fill } = full();
    await fill(120);
    subject.crash();
    const seen = watched(subject);
    for (let n = 0; n < 120; n += 1) expect(String(await subject.call("next")).split(" ")[0]).toBe(String(n));
    expect(await subject.call("next")).toBeUndefined();
    expect(seen.rows).toBe(120);
    expect(seen.most).toBeLessThanOrEqual(16);
  });
});
