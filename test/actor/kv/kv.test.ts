import { describe, expect, it } from "vitest";
import { actor, KEYS, type ActorKv, type ListOptions } from "../../../src/actor/index.js";
import { decodeValue } from "../../../src/protocol/index.js";
import type { WorldOptions } from "../../../src/testing/index.js";
import { seededRandom } from "../../support/seeded-random.js";
import { single, type Single } from "../subject.js";

type Context = { readonly kv: ActorKv; state: { n: number } };

/** An actor whose action, or `onCreate`, is what the test says. */
function subjectOf(
  options: Partial<WorldOptions> = {},
  onCreate: (c: Context) => unknown = () => {},
): Single & { run<T>(body: (c: Context) => T): Promise<Awaited<T>> } {
  let body: (c: Context) => unknown = () => {};
  const made = single(
    actor({ state: { n: 0 }, onCreate: (c) => onCreate(c), actions: { run: (c) => body(c) } }),
    options,
  );
  return {
    ...made,
    run: async (next) => {
      body = next;
      return (await made.subject.call("run")) as never;
    },
  };
}

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "no error",
    (error: { group: string; code: string }) => `${error.group}/${error.code}`,
  );
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe("c.kv", () => {
  it("gives what was put, as text, ArrayBuffer or Uint8Array, also after a restart; null for what was not (B28)", async () => {
    const subject = subjectOf();
    await subject.run(async ({ kv }) => {
      await kv.put("text", "é\ufeff\0");
      await kv.put("bom", "\ufeffx", { type: "text" });
      await kv.put("bytes", bytes(0, 255, 1, 2).subarray(1, 3));
      await kv.put("buffer", bytes(7, 8).buffer as ArrayBuffer, { type: "arrayBuffer" });
      await kv.put("", "");
      await kv.put(bytes(255), "by bytes");
    });
    subject.subject.crash();
    expect(
      await subject.run(async ({ kv }) => [
        await kv.get("text"),
        await kv.get("bom"),
        await kv.get("bytes", { type: "binary" }),
        await kv.get("bytes", { type: "arrayBuffer" }),
        await kv.get("buffer", { type: "binary" }),
        await kv.get(""),
        await kv.get(bytes(255), { type: "text" }),
        await kv.get("never"),
        await kv.get("never", { type: "binary" }),
      ]),
    ).toEqual(["é\ufeff\0", "\ufeffx", bytes(255, 1), bytes(255, 1).buffer, bytes(7, 8), "", "by bytes", null, null]);
  });

  it("keeps what it was given, and gives copies", async () => {
    const subject = subjectOf();
    const result = await subject.run(async ({ kv }) => {
      const given = bytes(1, 2);
      const buffer = bytes(3).buffer as ArrayBuffer;
      const put = [kv.put("a", given), kv.put("b", buffer)];
      given.fill(9);
      new Uint8Array(buffer).fill(9);
      await Promise.all(put);
      (await kv.get("a", { type: "binary" }))?.fill(8);
      return [await kv.get("a", { type: "binary" }), await kv.get("b", { type: "binary" })];
    });
    expect(result).toEqual([bytes(1, 2), bytes(3)]);
  });

  it("has the same keys in batches as in single calls", async () => {
    const subject = subjectOf();
    const result = await subject.run(async ({ kv }) => {
      await kv.put("a", "1");
      await kv.batchPut([
        [new TextEncoder().encode("b"), bytes(50)],
        ["c", "3"],
      ]);
      const before = [
        await kv.batchGet([new TextEncoder().encode("a"), "b", "never"]),
        await kv.get("b"),
        await kv.list(),
      ];
      await kv.batchDelete(["a", new TextEncoder().encode("c"), "never"]);
      return [...before, await kv.list()];
    });
    expect(result).toEqual([
      [bytes(49), bytes(50), null],
      "2",
      [
        ["a", "1"],
        ["b", "2"],
        ["c", "3"],
      ],
      [["b", "2"]],
    ]);
  });

  it("lists by prefix and range, in the order of the keys' bytes, with whole keys", async () => {
    const subject = subjectOf();
    await subject.run(async ({ kv }) => {
      for (const key of ["b", "a/1", "a/2", "a", "é", "a0", "", "\u{1f600}", "\uffff"]) await kv.put(key, `=${key}`);
    });
    const keys = async (list: (kv: ActorKv) => Promise<[unknown, unknown][]>): Promise<unknown[]> =>
      (await subject.run(({ kv }) => list(kv))).map(([key]) => key);
    expect(await keys((kv) => kv.list())).toEqual(["", "a", "a/1", "a/2", "a0", "b", "é", "\uffff", "\u{1f600}"]);
    expect(await keys((kv) => kv.list("a"))).toEqual(["a", "a/1", "a/2", "a0"]);
    expect(await keys((kv) => kv.listPrefix("a/", { reverse: true }))).toEqual(["a/2", "a/1"]);
    expect(
      await keys(async (kv) =>
        (await kv.rawListPrefix("a/")).map(([key, value]) => [
          new TextDecoder().decode(key),
          value instanceof Uint8Array ? "" : "?",
        ]),
      ),
    ).toEqual(["a/1", "a/2"]);
    expect(await keys((kv) => kv.listPrefix("a", { limit: 2 }))).toEqual(["a", "a/1"]);
    expect(await keys((kv) => kv.listPrefix("a", { limit: 2, reverse: true }))).toEqual(["a0", "a/2"]);
    expect(await keys((kv) => kv.listRange("a", "b"))).toEqual(["a", "a/1", "a/2", "a0"]);
    expect(await keys((kv) => kv.listRange("b", "a"))).toEqual([]);
    expect(await keys((kv) => kv.listRange("a/", "a/2", { keyType: "binary" }))).toEqual([
      new TextEncoder().encode("a/1"),
    ]);
    expect(await subject.run(({ kv }) => kv.list("é", { type: "binary" }))).toEqual([
      ["é", new TextEncoder().encode("=é")],
    ]);
  });

  it("deletes single keys and ranges, and writes no row for what is not there", async () => {
    const subject = subjectOf();
    await subject.run(async ({ kv }) => {
      for (let i = 0; i < 10; i += 1) await kv.put(`k${i}`, "v");
    });
    const before = subject.subject.store.rows;
    const left = await subject.run(async ({ kv }) => {
      await kv.delete("k0");
      await kv.delete("never");
      await kv.deleteRange("k3", "k8");
      await kv.deleteRange("x", "y");
      return (await kv.list()).map(([key]) => key);
    });
    expect([left, subject.subject.store.rows - before]).toEqual([["k1", "k2", "k8", "k9"], 6]);
  });

  it("finds in pieces what one piece does not hold", async () => {
    const subject = subjectOf();
    const name = (i: number): string => `k${String(i).padStart(5, "0")}`;
    for (let from = 0; from < 1_000; from += 100) {
      await subject.run(({ kv }) =>
        kv.batchPut(Array.from({ length: 100 }, (_, i) => [name(from + i), String(from + i)])),
      );
    }
    const all = Array.from({ length: 1_000 }, (_, i) => [name(i), String(i)]);
    expect(await subject.run(({ kv }) => kv.list())).toEqual(all);
    expect(await subject.run(({ kv }) => kv.list("", { reverse: true, limit: 300 }))).toEqual(all.slice(700).reverse());
    expect(await subject.run(({ kv }) => kv.listRange(name(100), name(500), { limit: 257 }))).toEqual(
      all.slice(100, 357),
    );
    await subject.run(({ kv }) => kv.deleteRange(name(1), name(999)));
    expect(await subject.run(({ kv }) => kv.list())).toEqual([all[0], all[999]]);
  });

  it.each<[string, (kv: ActorKv) => Promise<unknown>]>([
    ["kv/key_too_large", (kv) => kv.put("é".repeat(1_025), "v")],
    [
      "kv/key_too_large",
      (kv) =>
        kv.batchPut([
          ["a", "1"],
          [new Uint8Array(2_049), "v"],
        ]),
    ],
    ["kv/key_too_large", (kv) => kv.list("x".repeat(2_049))],
    ["kv/value_too_large", (kv) => kv.put("a", "é".repeat(65_537))],
    [
      "kv/value_too_large",
      (kv) =>
        kv.batchPut([
          ["a", "1"],
          ["b", new Uint8Array(131_073)],
        ]),
    ],
    ["kv/too_many_keys", (kv) => kv.batchPut(Array.from({ length: 129 }, (_, i) => [String(i), ""]))],
    ["kv/too_many_keys", (kv) => kv.batchGet(Array(129).fill("a"))],
    ["kv/too_many_keys", (kv) => kv.batchDelete(Array(129).fill("a"))],
    [
      "kv/batch_too_large",
      (kv) => kv.batchPut(Array.from({ length: 8 }, (_, i) => [String(i), new Uint8Array(125_000)])),
    ],
    ["kv/invalid_key", (kv) => kv.put(7 as never, "v")],
    ["kv/invalid_key", (kv) => kv.put("\ud800", "v")],
    ["kv/invalid_key", (kv) => kv.get(undefined as never)],
    ["kv/invalid_key", (kv) => kv.batchGet("a" as never)],
    ["kv/invalid_value", (kv) => kv.put("a", { a: 1 } as never)],
    ["kv/invalid_value", (kv) => kv.put("a", "\udc00")],
    ["kv/invalid_value", (kv) => kv.put("a", "text", { type: "binary" })],
    ["kv/invalid_value", (kv) => kv.batchPut(["ab"] as never)],
    ["kv/invalid_option", (kv) => kv.get("a", null as never)],
    ["kv/invalid_option", (kv) => kv.put("a", "v", "text" as never)],
    ["kv/invalid_option", (kv) => kv.list("", null as never)],
    ["kv/invalid_option", (kv) => kv.get("a", { type: "json" as never })],
    ["kv/invalid_option", (kv) => kv.list("", { keyType: "json" as never })],
    ["kv/invalid_option", (kv) => kv.list("", { limit: 0 })],
    ["kv/invalid_option", (kv) => kv.list("", { limit: 16_385 })],
    ["kv/invalid_option", (kv) => kv.list("", { limit: 1.5 })],
  ])("refuses with %s, and has changed nothing then (B29)", async (code, use) => {
    const subject = subjectOf();
    const [found, left] = await subject.run(async ({ kv }) => [await codeOf(use(kv)), await kv.list()] as const);
    expect([found, left]).toEqual([code, []]);
  });

  it("takes keys and values of exactly the limit", async () => {
    const subject = subjectOf();
    const key = "k".repeat(2_048);
    expect(
      await subject.run(async ({ kv }) => {
        await kv.put(key, new Uint8Array(131_072));
        return [(await kv.get(key, { type: "binary" }))?.length, (await kv.list("", { type: "binary" })).length];
      }),
    ).toEqual([131_072, 1]);
  });

  it("says so when bytes that are no text are asked for as text", async () => {
    const subject = subjectOf();
    expect(
      await subject.run(async ({ kv }) => {
        await kv.put(bytes(255), bytes(254));
        return [
          await codeOf(kv.get(bytes(255))),
          await codeOf(kv.list()),
          await codeOf(kv.list("", { type: "binary" })),
          await kv.list("", { type: "binary", keyType: "binary" }),
        ];
      }),
    ).toEqual([
      "kv/invalid_value",
      expect.stringMatching(/^kv\/invalid_/),
      "kv/invalid_key",
      [[bytes(255), bytes(254)]],
    ]);
  });

  it("refuses a list of more than 32 MiB, and gives it in parts", async () => {
    const subject = subjectOf();
    for (let i = 0; i < 258; i += 6)
      await subject.run(({ kv }) =>
        kv.batchPut(Array.from({ length: 6 }, (_, k) => [String(1_000 + i + k), new Uint8Array(131_072)])),
      );
    expect(
      await subject.run(async ({ kv }) => [
        await codeOf(kv.list()),
        (await kv.list("", { limit: 200, type: "binary" })).length,
      ]),
    ).toEqual(["kv/list_too_large", 200]);
  });

  it("is out of the runtime's way: its keys are none of the runtime's, whatever they are", async () => {
    const subject = subjectOf();
    const runtimeKeys = ["a", "s", "l", "e/1", "m/1", "d/x", "f/1", "u/", "c/x"];
    await subject.run(async (c) => {
      c.state.n = 5;
      for (const key of runtimeKeys) await c.kv.put(key, "mine");
      await c.kv.deleteRange("", "z");
    });
    subject.subject.crash();
    expect([
      await subject.run((c) => c.state),
      await subject.run(({ kv }) => kv.list()),
      subject.subject.store.keys,
    ]).toEqual([{ n: 5 }, [], ["a", "s"]]);
  });
});

describe("a write to c.kv", () => {
  it("is one commit with the state, wherever the process dies", async () => {
    for (let at = 1; at <= 12; at += 1) {
      for (const fault of ["crash-before", "crash-after"] as const) {
        const stored: unknown[] = [];
        const subject = subjectOf({
          fault: (_actor, commit) => (commit === at ? fault : undefined),
          onCommit: (_actor, rows) => {
            const state = rows.get(KEYS.state);
            const mirror = rows.get(`${KEYS.userValues}6e`);
            stored.push([
              (state && (decodeValue(state) as { n: number }).n) ?? 0,
              mirror ? Number(new TextDecoder().decode(mirror)) : 0,
            ]);
          },
        });
        for (let n = 1; n <= 5; n += 1) {
          await subject
            .run(async (c) => {
              c.state.n += 1;
              await c.kv.put("n", String(c.state.n));
              await c.kv.delete("never");
            })
            .catch(() => {});
        }
        for (const [state, mirror] of stored as [number, number][]) expect(mirror, `${fault} commit ${at}`).toBe(state);
        expect(stored.length).toBeGreaterThan(3);
      }
    }
  });

  it("in a creation waits for it, is seen by what comes after, and goes with a creation that fails", async () => {
    let fails = true;
    let seen: unknown;
    const subject = subjectOf({}, async ({ kv }) => {
      for (let i = 0; i < 5; i += 1) await kv.put(`k${i}`, String(i));
      await kv.delete("k1");
      await kv.deleteRange("k3", "k4");
      seen = [await kv.get("k0"), await kv.get("k1"), await kv.list(), await kv.list("", { reverse: true, limit: 2 })];
      if (fails) throw new Error("no");
    });
    await subject.run(() => {}).catch(() => {});
    expect(subject.subject.store.keys).toEqual([]);
    fails = false;
    const left = [
      ["k0", "0"],
      ["k2", "2"],
      ["k4", "4"],
    ];
    expect(await subject.run(({ kv }) => kv.list())).toEqual(left);
    expect(seen).toEqual([
      "0",
      null,
      left,
      [
        ["k4", "4"],
        ["k2", "2"],
      ],
    ]);
    subject.subject.crash();
    expect(await subject.run(({ kv }) => kv.list())).toEqual(left);
  });

  it("is refused when its activation has ended", async () => {
    const subject = subjectOf();
    let kept: ActorKv | undefined;
    await subject.run(async ({ kv }) => {
      kept = kv;
      await kv.put("a", "1");
    });
    subject.subject.crash();
    await subject.run(() => {});
    expect(await codeOf((kept as ActorKv).put("a", "2"))).not.toBe("no error");
    expect(await subject.run(({ kv }) => kv.get("a"))).toBe("1");
  });

  it("lists as a list of all rows would, whatever is stored and whatever waits for a commit", async () => {
    const random = seededRandom(11);
    const key = (): Uint8Array =>
      Uint8Array.from({ length: Math.floor(random() * 3) }, () => Math.floor(random() * 4) * 85);
    for (let round = 0; round < 60; round += 1) {
      const model = new Map<string, number>();
      const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
      const results: unknown[] = [];
      const expected: unknown[] = [];
      const subject = subjectOf({}, async ({ kv }) => {
        for (let step = 0; step < 40; step += 1) {
          const [a, b] = [key(), key()];
          const what = random();
          if (what < 0.4) {
            await kv.put(a, bytes(step));
            model.set(hex(a), step);
          } else if (what < 0.55) {
            await kv.delete(a);
            model.delete(hex(a));
          } else if (what < 0.65) {
            await kv.deleteRange(a, b);
            for (const each of model.keys()) if (each >= hex(a) && each < hex(b)) model.delete(each);
          } else {
            const options: ListOptions & { limit: number } = {
              reverse: random() < 0.5,
              limit: 1 + Math.floor(random() * 4),
            };
            const isPrefix = random() < 0.5;
            const found = isPrefix
              ? await kv.listPrefix(a, { ...options, type: "binary", keyType: "binary" })
              : await kv.listRange(a, b, { ...options, type: "binary", keyType: "binary" });
            results.push(found.map(([found_, value]) => [hex(found_), value[0]]));
            const inRange = [...model]
              .filter(([each]) => (isPrefix ? each.startsWith(hex(a)) : each >= hex(a) && each < hex(b)))
              .sort(([x], [y]) => (x < y ? -1 : 1));
            expected.push((options.reverse ? inRange.reverse() : inRange).slice(0, options.limit));
          }
        }
      });
      await subject.run(() => {});
      expect(results).toEqual(expected);
    }
  });
});
