import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "perdure/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, FixtureServer } from "./fixture-server.js";
import type { registry } from "./fixtures/actors.js";
import { Ledger } from "./ledger.js";

/** The platform drops an idle object after about 10 s. Nothing can tell when: whoever asks the object wakes it. */
const SILENCE_MS = 15_000;
const LATE_MS = 2_000;

describe("silence", () => {
  let server: FixtureServer;
  let ledger: Ledger;
  beforeAll(async () => {
    [server, ledger] = await Promise.all([FixtureServer.start(), Ledger.open()]);
  });
  afterAll(async () => {
    ledger?.close();
    await server?.stop();
  });

  test.concurrent("an idle actor hibernates", async () => {
    const actor = createClient<typeof registry>(server.url).idle.getOrCreate(["idle"]);
    const before = await actor.getBootId();
    await delay(SILENCE_MS);
    expect(await actor.getBootId()).not.toBe(before);
  });

  test.concurrent("a connected actor hibernates; the socket stays, and hears what comes after", async () => {
    const connection = createClient<typeof registry>(server.url).board.getOrCreate("silent").connect();
    const [heard, statuses]: [number[], string[]] = [[], []];
    connection.on("noted", (number) => heard.push(number));
    const before = await connection.getBootId();
    connection.onStatusChange((status) => statuses.push(status));
    await connection.note("before");
    await delay(SILENCE_MS);
    await connection.note("after");
    expect(await connection.getBootId()).not.toBe(before);
    expect([heard, statuses]).toEqual([[1, 2], []]);
    await connection.dispose();
  });

  test.concurrent("an actor whose workflow waits for a message hibernates", async () => {
    const actor = createClient<typeof registry>(server.url).waiting.getOrCreate(["waiting"]);
    await eventually(() => actor.getStatus(), ({ status }) => status === "running");
    const before = await actor.getBootId();
    await delay(SILENCE_MS);
    expect(await actor.getBootId()).not.toBe(before);
  });

  test.concurrent("an actor with a recurring job hibernates, and is woken at its time by nobody but the alarm", async () => {
    const ticked = ledger.next("ticked");
    const input = { ledger: ledger.url, durationMs: SILENCE_MS };
    const actor = createClient<typeof registry>(server.url).recurring.getOrCreate(["recurring"], { createWithInput: input });
    const before = await actor.begin();
    const { text, at } = await ticked;
    const [, scheduledAt, bootId] = text.split(" ");
    expect([Number(scheduledAt), bootId === before.bootId]).toEqual([before.nextRunAt, false]);
    expect(at).toBeGreaterThanOrEqual(before.nextRunAt);
    expect(at).toBeLessThan(before.nextRunAt + LATE_MS);
    expect(await eventually(() => actor.getRuns(), ([run]) => run?.result === "ok")).toHaveLength(1);
  });

  test.concurrent("an actor whose workflow sleeps hibernates, and wakes on time", async () => {
    const durationMs = SILENCE_MS;
    const [asleep, awake] = [ledger.next("asleep"), ledger.next("awake")];
    const input = { ledger: ledger.url, durationMs };
    const actor = createClient<typeof registry>(server.url).sleeping.getOrCreate(["sleeping"], { createWithInput: input });
    await actor.resolve();

    const [begin, end] = [await asleep, await awake];
    expect(end.text.slice("awake ".length)).not.toBe(begin.text.slice("asleep ".length));
    const sleptMs = end.at - begin.at;
    expect(sleptMs).toBeGreaterThanOrEqual(durationMs);
    expect(sleptMs).toBeLessThan(durationMs + LATE_MS);
    expect(await eventually(() => actor.getStatus(), ({ status }) => status !== "running")).toMatchObject({ status: "completed" });
  });
});
