import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "perdure/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, FixtureServer } from "./fixture-server.js";
import type { registry } from "./fixtures/actors.js";
import { Ledger } from "./ledger.js";
import { SilentNetwork } from "./silent-network.js";

/** The platform drops an idle object after about 10 s. Nothing can tell when: whoever asks the object wakes it. */
const SILENCE_MS = 15_000;
const LATE_MS = 2_000;
/** So long the send itself waits for a reply; after that, a socket that lets the object hibernate. */
const WAIT_IN_CALL_MS = 30_000;

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

  test.concurrent.each(["json", "cbor", "bare"] as const)(
    "a connected actor hibernates while its client asks whether it is there (%s)",
    async (encoding) => {
      const frames: string[] = [];
      class Socket extends WebSocket {
        constructor(url: string, protocols: string[]) {
          super(url, protocols);
          this.addEventListener("message", ({ data }) => data === "pong" && frames.push(data));
        }
        override send(data: string | Uint8Array<ArrayBuffer>): void {
          if (data === "ping") frames.push(data);
          super.send(data);
        }
      }
      const client = createClient<typeof registry>({
        endpoint: server.url,
        encoding,
        pingInterval: 1_000,
        webSocket: Socket,
      });
      const connection = client.board.getOrCreate(`asks in ${encoding}`).connect();
      const [heard, statuses]: [number[], string[]] = [[], []];
      connection.on("noted", (number) => heard.push(number));
      const before = await connection.getBootId();
      connection.onStatusChange((status) => statuses.push(status));
      await delay(SILENCE_MS);
      const silent = [...frames];
      expect(await connection.getBootId()).not.toBe(before);
      await connection.note("after");
      expect([heard, statuses]).toEqual([[1], []]);
      // It was asked all the time, and each question but perhaps the last was answered.
      expect(silent.length).toBeGreaterThan(4);
      expect(silent.slice(0, 4)).toEqual(["ping", "pong", "ping", "pong"]);
      await connection.dispose();
    },
  );

  test.concurrent("a connection over a network that went silent is noticed, and made anew", async () => {
    const network = await SilentNetwork.before(server.url);
    const connection = createClient<typeof registry>({ endpoint: network.url, pingInterval: 1_000 })
      .board.getOrCreate("far")
      .connect();
    const heard: string[] = [];
    connection.on("noted", (_number, text) => heard.push(text));
    await connection.note("before");
    const isBack = new Promise<void>((resolve) => connection.onClose(() => connection.onOpen(resolve)));
    network.goSilent();
    const lost = connection.note("into the silence").catch((error: unknown) => error);
    await isBack;
    expect(await lost).toMatchObject({ code: "connection_closed", cause: { code: "connection_lost" } });
    await connection.note("after");
    expect(heard.filter((text) => text !== "into the silence")).toEqual(["before", "after"]);
    await connection.dispose();
    await network.close();
  });

  test.concurrent("an actor whose workflow waits for a message hibernates", async () => {
    const actor = createClient<typeof registry>(server.url).waiting.getOrCreate(["waiting"]);
    await eventually(
      () => actor.getStatus(),
      ({ status }) => status === "running",
    );
    const before = await actor.getBootId();
    await delay(SILENCE_MS);
    expect(await actor.getBootId()).not.toBe(before);
  });

  test.concurrent("an actor hibernates while a sender waits an hour for its reply, which comes as soon as it is given", async () => {
    const actor = createClient<typeof registry>(server.url).answering.getOrCreate(["answering"]);
    const before = await actor.getBootId();
    const reply = actor.send("questions", "how much?", { wait: true, timeout: 3_600_000 });
    await delay(WAIT_IN_CALL_MS + SILENCE_MS);
    expect(await actor.getBootId()).not.toBe(before);
    await actor.send("answers", "a lot");
    expect(await reply).toEqual({ status: "completed", response: "a lot" });
  });

  test.concurrent("an actor with a recurring job hibernates, and is woken at its time by nobody but the alarm", async () => {
    const ticked = ledger.next("ticked");
    const input = { ledger: ledger.url, durationMs: SILENCE_MS };
    const actor = createClient<typeof registry>(server.url).recurring.getOrCreate(["recurring"], {
      createWithInput: input,
    });
    const before = await actor.begin();
    const { text, at } = await ticked;
    const [, scheduledAt, bootId] = text.split(" ");
    expect([Number(scheduledAt), bootId === before.bootId]).toEqual([before.nextRunAt, false]);
    expect(at).toBeGreaterThanOrEqual(before.nextRunAt);
    expect(at).toBeLessThan(before.nextRunAt + LATE_MS);
    expect(
      await eventually(
        () => actor.getRuns(),
        ([run]) => run?.result === "ok",
      ),
    ).toHaveLength(1);
  });

  test.concurrent("an actor whose workflow sleeps hibernates, and wakes on time", async () => {
    const durationMs = SILENCE_MS;
    const [asleep, awake] = [ledger.next("asleep"), ledger.next("awake")];
    const input = { ledger: ledger.url, durationMs };
    const actor = createClient<typeof registry>(server.url).sleeping.getOrCreate(["sleeping"], {
      createWithInput: input,
    });
    await actor.resolve();

    const [begin, end] = [await asleep, await awake];
    expect(end.text.slice("awake ".length)).not.toBe(begin.text.slice("asleep ".length));
    const sleptMs = end.at - begin.at;
    expect(sleptMs).toBeGreaterThanOrEqual(durationMs);
    expect(sleptMs).toBeLessThan(durationMs + LATE_MS);
    expect(
      await eventually(
        () => actor.getStatus(),
        ({ status }) => status !== "running",
      ),
    ).toMatchObject({ status: "completed" });
  });
});
