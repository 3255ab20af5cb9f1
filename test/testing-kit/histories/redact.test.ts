import { describe, expect, it, onTestFinished, vi } from "vitest";
import { actor, setup } from "../../../src/entry/index.js";
import { replayHistories, testWorld, type Redact, type RecordedHistory } from "../../../src/entry/testing.js";
import { CriticalError, workflow } from "../../../src/entry/workflow.js";

const person = {
  name: "Ada Lovelace",
  born: new Date(1_000),
  age: 36,
  big: 10n,
  vip: true,
  none: null,
  bytes: new Uint8Array([1, 2, 3]),
  tags: new Set(["vip", "old"]),
  notes: new Map([["k", "secret"]]),
  error: new TypeError("no card 4242"),
};

function clinic(branch: (read: typeof person) => boolean = () => true) {
  const visit = actor({
    run: workflow(async (ctx) => {
      const read = (await ctx.step("read", () => person)) as typeof person;
      if (branch(read)) await ctx.step("treat", () => "done");
      await ctx
        .step({
          name: "bill",
          maxRetries: 0,
          run: () => Promise.reject(new CriticalError("card 4242", { metadata: { card: "4242" } })),
        })
        .catch(() => {});
      const message = await ctx.queue.next("call");
      return message.body;
    }),
    queues: { call: {} as never },
    actions: { get: () => 0 },
  });
  return setup({ use: { visit } });
}

async function record(redact?: Redact): Promise<RecordedHistory> {
  await using world = await testWorld(clinic());
  const visit = world.client.visit.getOrCreate(["ada@example.com"]);
  await visit.get();
  await (visit as unknown as { send(name: string, body: unknown): Promise<void> }).send("call", "me at home");
  await world.idle();
  return world.record(visit, redact === undefined ? {} : { redact });
}

describe("redact: true", () => {
  it("replaces every value and keeps types, booleans and lengths, and marks where", async () => {
    const history = await record(true);
    expect(JSON.stringify(history)).not.toMatch(/Ada|4242|secret|home|example\.com|old/);
    expect(history.key).toEqual(["x".repeat(15)]);
    const [read, , bill, call] = history.entries;
    expect(read?.value).toMatchObject({
      name: "x".repeat(12),
      born: ["$Date", 0],
      age: 0,
      big: ["$BigInt", "0"],
      vip: true,
      none: null,
      bytes: ["$Uint8Array", "AAAA"],
      tags: ["$Set", ["xxx", "xx1"]],
      notes: ["$Map", [["k", "xxxxxx"]]],
      error: ["$Error", ["TypeError", "x".repeat(12), {}]],
    });
    expect(read?.redacted).toBe(9);
    expect(bill?.failure).toMatchObject({
      error: { name: "CriticalError", message: expect.stringMatching(/^x+$/), code: "critical" },
    });
    expect(call?.messages).toMatchObject([{ name: "call", body: "x".repeat(10) }]);
    expect(history.redacted).toEqual({ key: 1, run: 1 });
  });

  it("leaves a history that the code still matches", async () => {
    expect(await replayHistories(clinic(), [await record(true)])).toMatchObject([{ outcome: "matched" }]);
  });

  it("makes what follows a value that the code depends on cannot tell, which is no error", async () => {
    const byName = clinic((read) => read.name.startsWith("Ada"));
    const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    expect(await replayHistories(byName, [await record()])).toMatchObject([{ outcome: "matched" }]);
    expect(warn).not.toHaveBeenCalled();
    expect(await replayHistories(byName, [await record(true)])).toMatchObject([
      { outcome: "cannot tell", redacted: "read", location: "bill" },
    ]);
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining(
        "cannot tell whether 1 of 1 histories match, because of redacted values: history 1 (visit)",
      ),
      "PerdureTestingWarning",
    );
  });
});

describe("redact as a function", () => {
  it("is told where each value stands, and keeps what it returns unchanged", async () => {
    const places: string[] = [];
    const history = await record((value, { kind, at, path, actor: name }) => {
      places.push(`${name} ${kind} ${at} ${path}`);
      return path === "$.name" ? "N." : value;
    });
    expect(places).toEqual(
      expect.arrayContaining([
        "visit result read $.name",
        "visit message call $",
        "visit error bill $.message",
        "visit error bill $.metadata.card",
        "visit output  $",
        "visit key  $[0]",
      ]),
    );
    expect(history.entries[0]).toMatchObject({ value: { name: "N.N.N.N.N.N.", age: 36 }, redacted: 1 });
    expect(history.entries[1]).not.toHaveProperty("redacted");
    // Nothing was decided by what was redacted, but a value behind it cannot be told either.
    expect(
      await replayHistories(
        clinic(() => false),
        [history],
      ),
    ).toMatchObject([{ outcome: "cannot tell" }]);
  });

  it("must keep the type", async () => {
    await expect(record((value) => (value === 36 ? "36" : value))).rejects.toThrow(
      "redact must return a value of the same type and size for $.age of the result at read",
    );
  });
});
