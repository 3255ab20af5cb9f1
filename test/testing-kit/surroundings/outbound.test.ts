import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { setup } from "../../../src/entry/index.js";
import { testWorld } from "../../../src/entry/testing.js";
import { stagedWorld, type StagedWorld } from "./staged-world.js";

const CHARGES = "https://api.example.com/charges";

/** What `code` comes to in the actor: its result, or the text of its error. */
async function outcome(world: StagedWorld, code: () => Promise<unknown>): Promise<unknown> {
  world.code = () => code().catch((error: unknown) => String(error));
  return world.run();
}

const textOf = async (url: string | URL | Request, init?: RequestInit): Promise<string> =>
  (await fetch(url, init)).text();

/** A promise that the test resolves. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  let open: () => void = () => {};
  return { passed: new Promise((resolve) => (open = resolve)), open: () => open() };
}

describe("world.fetch", () => {
  it("answers requests of user code, and lists them", async () => {
    await using world = await stagedWorld({ startAt: 1_900_000_000_000 });
    const charges = world.fetch.on(CHARGES, async (request) => ({ echo: await request.json() }), { method: "post" });
    const code = async (): Promise<unknown> => {
      const response = await fetch(`${CHARGES}?now=1#there`, { method: "POST", body: JSON.stringify({ amount: 5 }) });
      return [response.status, response.url, response.headers.get("content-type"), await response.json()];
    };
    expect(await outcome(world, code)).toEqual([
      200,
      `${CHARGES}?now=1#there`,
      "application/json",
      { echo: { amount: 5 } },
    ]);
    const [call] = charges.calls();
    expect(call).toMatchObject({
      actor: "staged",
      key: ["k"],
      method: "POST",
      url: `${CHARGES}?now=1#there`,
      at: 1_900_000_000_000,
    });
    expect(await call?.request.json()).toEqual({ amount: 5 });
    expect(world.fetch.calls()).toEqual(charges.calls());
  });

  it("gives a Response as it is, each time anew; a text; JSON; nothing as 204", async () => {
    await using world = await stagedWorld();
    world.fetch.on(`${CHARGES}/response`, new Response("down", { status: 503, headers: { "retry-after": "9" } }));
    world.fetch.on(`${CHARGES}/text`, "text");
    world.fetch.on(`${CHARGES}/json`, { a: [1] });
    world.fetch.on(`${CHARGES}/null`, () => null);
    world.fetch.on(`${CHARGES}/nothing`, () => {});
    const code = async (): Promise<unknown> =>
      Promise.all(
        ["response", "response", "text", "json", "null", "nothing"].map(async (name) => {
          const response = await fetch(`${CHARGES}/${name}`);
          return [response.status, response.headers.get("retry-after"), await response.text()];
        }),
      );
    expect(await outcome(world, code)).toEqual([
      [503, "9", "down"],
      [503, "9", "down"],
      [200, null, "text"],
      [200, null, '{"a":[1]}'],
      [200, null, "null"],
      [204, null, ""],
    ]);
  });

  it("takes the last that fits and has answers left, by URL, beginning, RegExp, URLPattern, method and times", async () => {
    await using world = await stagedWorld();
    world.fetch.on("https://api.example.com/*", "anything");
    world.fetch.on(new URLPattern({ pathname: "/users/:id" }), "a user");
    world.fetch.on(/\/refunds\/\d+$/g, "a refund");
    world.fetch.on(new URL(CHARGES), "later");
    world.fetch.on(`${CHARGES}?page=2`, "the second page");
    world.fetch.on(CHARGES, "posted", { method: "POST" });
    world.fetch.on(CHARGES, "once", { times: 1 });
    const code = async (): Promise<unknown> => {
      const texts: string[] = [];
      for (const [url, method] of [
        [CHARGES, "GET"],
        [CHARGES, "GET"],
        [CHARGES, "POST"],
        [`${CHARGES}?page=2`, "GET"],
        [`${CHARGES}?page=3`, "GET"],
        ["https://pay.example.com/refunds/7", "GET"],
        ["https://pay.example.com/refunds/8", "GET"],
        ["https://pay.example.com/users/ada", "GET"],
        ["https://api.example.com/", "GET"],
        [`${CHARGES}/1`, "GET"],
      ] as const)
        texts.push(await textOf(url, { method }));
      return texts;
    };
    expect(await outcome(world, code)).toEqual([
      "once",
      "later",
      "posted",
      "the second page",
      "later",
      "a refund",
      "a refund",
      "a user",
      "anything",
      "anything",
    ]);
  });

  it("says which request nothing answers, of whom, and what to do; no network is reached", async () => {
    const asked: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      asked.push(url);
      response.end("real");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const local = `http://127.0.0.1:${port}`;
    try {
      const world = await stagedWorld();
      expect(await outcome(world, () => textOf(`${local}/a`, { method: "PUT" }))).toBe(
        `Error: The actor "staged" ["k"] requests PUT ${local}/a, for which no answer is declared. A test reaches no ` +
          `network by itself: declare one with world.fetch.on("${local}/a", () => ({ … })), or let it out with ` +
          `world.fetch.allow("${local}/a")`,
      );
      world.fetch.on(`${local}/once`, "one", { times: 1 });
      expect(await outcome(world, () => textOf(`${local}/once`))).toBe("one");
      expect(await outcome(world, () => textOf(`${local}/once`))).toContain(
        `no answer is declared; there is one for ${local}/once (used up after 1 request). A test`,
      );
      expect(asked).toEqual([]);
      expect(world.fetch.calls()).toHaveLength(3);
      expect(await textOf(`${local}/test`), "code of the test has the real one").toBe("real");
      const out = world.fetch.allow(`${local}/*`);
      expect(await outcome(world, () => textOf(`${local}/let-out`))).toBe("real");
      world.fetch.on("https://api.example.com/", async () => textOf(`${local}/double`));
      expect(await outcome(world, () => textOf("https://api.example.com/")), "as has a double").toBe("real");
      expect(asked).toEqual(["/test", "/let-out", "/double"]);
      expect(out.calls()).toHaveLength(1);
      await expect(world.end(), "and the end of the world says it again").rejects.toThrow(
        new RegExp(`requests PUT ${local}/a, .*\\n.* requests GET ${local}/once, `),
      );
    } finally {
      server.close();
    }
  });

  it("rejects as `fetch` does: with what the double throws, a signal's reason, a TypeError for what is no request", async () => {
    await using world = await stagedWorld();
    const [never, began] = [gate(), gate()];
    world.fetch.on(`${CHARGES}/broken`, () => {
      throw new TypeError("fetch failed");
    });
    world.fetch.on(`${CHARGES}/hangs`, () => (began.open(), never.passed));
    expect(await outcome(world, () => fetch(`${CHARGES}/broken`))).toBe("TypeError: fetch failed");
    const abort = new AbortController();
    const aborted = outcome(world, () => fetch(`${CHARGES}/hangs`, { signal: abort.signal }));
    await began.passed;
    abort.abort(new Error("given up"));
    expect(await aborted).toBe("Error: given up");
    expect(await outcome(world, () => fetch(`${CHARGES}/hangs`, { signal: abort.signal }))).toBe("Error: given up");
    expect(await outcome(world, () => fetch("/relative"))).toMatch(/^TypeError: .*\/relative/);
  });

  it("gives a double the world's time", async () => {
    await using world = await stagedWorld({ startAt: 1_900_000_000_000 });
    world.fetch.on(CHARGES, () => ({ createdAt: Date.now() }));
    expect(await outcome(world, async () => (await fetch(CHARGES)).json())).toEqual({ createdAt: 1_900_000_000_000 });
  });

  it.each(["crash", "evict"] as const)(
    "never answers a process that is gone (%s), which sends nothing more",
    async (end) => {
      await using world = await stagedWorld();
      const answered = gate();
      const began = gate();
      world.fetch.on(`${CHARGES}/first`, async () => {
        began.open();
        await answered.passed;
      });
      const other = world.fetch.allow(`${CHARGES}/second`);
      const notes: string[] = [];
      world.code = async () => {
        try {
          await fetch(`${CHARGES}/first`);
          notes.push("went on");
        } finally {
          notes.push("finally");
          await fetch(`${CHARGES}/second`);
        }
      };
      void world.run().catch(() => {});
      await began.passed;
      await world[end]();
      answered.open();
      world.code = () => "the next life";
      expect(await world.run()).toBe("the next life");
      expect(await world.run()).toBe("the next life");
      expect([notes, other.calls(), world.fetch.calls().length]).toEqual([[], [], 1]);
    },
  );

  it("does not list what a process sends that is gone", async () => {
    await using world = await stagedWorld();
    const held = gate();
    world.fetch.allow(CHARGES);
    world.code = async () => {
      await held.passed;
      await fetch(CHARGES);
    };
    void world.run().catch(() => {});
    await Promise.resolve();
    world.crash();
    held.open();
    world.code = () => 1;
    await world.run();
    expect(world.fetch.calls()).toEqual([]);
  });

  it("fails the end of a world in which an answer was declared and never asked for", async () => {
    const world = await stagedWorld();
    world.fetch.on(CHARGES, 1, { method: "POST" });
    world.fetch.on(/refunds/, 1);
    world.fetch.on(`${CHARGES}/asked`, 1);
    world.fetch.allow("http://localhost/*");
    await outcome(world, () => textOf(`${CHARGES}/asked`));
    await expect(world.end()).rejects.toThrow(
      `never asked for: POST ${CHARGES}, /refunds/. Requests that were made: GET ${CHARGES}/asked. One that a test need ` +
        "not use is declared with { optional: true }",
    );
  });

  it("says of an answer that a later one hid that it was hidden, not that nothing asked", async () => {
    const world = await stagedWorld();
    world.fetch.on("https://api.example.com/*", "default");
    world.fetch.on(CHARGES, "mine");
    for (let time = 0; time < 2; time += 1) await outcome(world, () => textOf(CHARGES));
    await expect(world.end()).rejects.toThrow(
      new Error(
        `The answer to https://api.example.com/* was never used: one declared later answered GET ${CHARGES}. ` +
          "One that a test need not use is declared with { optional: true }",
      ),
    );
  });

  it("lets an optional answer stay unused, hidden or unasked", async () => {
    const world = await stagedWorld();
    world.fetch.on("https://api.example.com/*", "default", { optional: true });
    world.fetch.on("https://mail.example.com/*", "default", { optional: true });
    world.fetch.hangs("https://slow.example.com/*", { optional: true });
    world.fetch.on(CHARGES, "mine");
    expect(await outcome(world, () => textOf(CHARGES))).toBe("mine");
    await world.end();
  });

  it("says once what several requests have run into, and how often", async () => {
    const world = await stagedWorld();
    world.fetch.on(CHARGES, 1, { method: "POST" });
    world.fetch.on(`${CHARGES}/*`, 1, { optional: true });
    for (let time = 0; time < 3; time += 1) await outcome(world, () => textOf(CHARGES));
    const error = await world.end().catch((thrown: unknown) => (thrown as Error).message);
    expect(error).toMatch(
      /^The actor .* no answer is declared; there is one for POST .*charges\. .* \(3 times\)\nAnswers/,
    );
    expect(String(error).split("\n")).toHaveLength(2);
  });

  it("keeps from `await using` what would stand before the test's own error: it is a warning", async () => {
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    const failing = async (): Promise<void> => {
      await using world = await testWorld(setup({ use: {} }));
      world.fetch.on(CHARGES, 1);
      throw new Error("the test's own");
    };
    await expect(failing()).rejects.toThrow(new Error("the test's own"));
    expect(await warned).toMatchObject({ name: "PerdureTestingWarning", message: expect.stringContaining(CHARGES) });
  });

  it.each([
    ["on", ["/charges"], 'world.fetch.on(): "/charges" is no URL with a scheme and a host'],
    ["on", [5], "world.fetch.on(): the first argument must be a URL"],
    ["on", [undefined], "world.fetch.on(): the first argument must be a URL"],
    ["allow", ["*"], 'world.fetch.allow(): "*" is no URL'],
    ["on", [CHARGES, 1, { time: 1 }], 'world.fetch.on(): world.fetch.on has no option "time"'],
    ["on", [CHARGES, 1, { times: 0 }], "world.fetch.on(): times must be a whole number, 1 or more"],
    ["on", [CHARGES, 1, { optional: 1 }], "world.fetch.on(): optional must be true or false"],
    ["on", [CHARGES, 1, { method: 5 }], "world.fetch.on(): method must be a string"],
  ] as const)("refuses %s(%j), and declares nothing", async (method, args, message) => {
    const world = await stagedWorld();
    const declare = world.fetch[method] as (...args: unknown[]) => unknown;
    expect(() => declare(...args)).toThrow(TypeError);
    expect(() => declare(...args)).toThrow(message);
    expect(await outcome(world, () => fetch(CHARGES))).toContain("no answer is declared.");
    await expect(world.end()).rejects.toThrow("no answer is declared.");
  });

  it("is each world's own", async () => {
    await using one = await stagedWorld();
    await using other = await stagedWorld();
    one.fetch.on(CHARGES, "one");
    other.fetch.on(CHARGES, "other");
    expect(await Promise.all([outcome(one, () => textOf(CHARGES)), outcome(other, () => textOf(CHARGES))])).toEqual([
      "one",
      "other",
    ]);
  });
});
