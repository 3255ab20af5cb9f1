import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ActorError, decodeJson, encodeJson } from "../../src/protocol/index.js";
import { fromJsonTree, toJsonTree } from "../../src/protocol/internal.js";
import { anyKey, anyString, anyValue, portrait } from "./arbitrary-values.js";
import { reviveAsPublished } from "./published-client.js";

const extended = { extended: true };

/** Values that the tags of RivetKit's clients can carry, so that plain JSON loses nothing. */
const published: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>(
      null,
      undefined,
      true,
      0,
      1.5,
      2n ** 70n,
      ["$x", 1],
      ["$$x", 1],
      ["$BigInt", "1"],
      ["$Undefined", 0],
      ["$", ["$"]],
    ),
    anyString,
    fc.bigInt(),
    fc.uint8Array({ maxLength: 8 }).map((bytes) => Uint8Array.from(bytes)),
    fc.uint8Array({ maxLength: 8 }).map((bytes) => Uint8Array.from(bytes).buffer),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.tuple(fc.constantFrom("$x", "$Set", "$$"), tie("value")).map(([tag, value]) => new Set([tag, value])),
    fc.array(fc.tuple(anyKey, tie("value")), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (ActorError.isActorError(error)) return `${error.group}/${error.code} ${error.statusCode}`;
    throw error;
  }
  return "nothing thrown";
}

describe("encodeJson and decodeJson", () => {
  it("give back every value between our own client and server", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(portrait(decodeJson(encodeJson(value, extended)))).toBe(portrait(value));
      }),
      { numRuns: 500 },
    );
  });

  it("give back, without our own tags, what the published ones carry", () => {
    fc.assert(
      fc.property(published, (value) => {
        expect(portrait(decodeJson(encodeJson(value)))).toBe(portrait(value));
        expect(portrait(reviveAsPublished(JSON.parse(encodeJson(value))))).toBe(portrait(value));
      }),
      { numRuns: 700 },
    );
  });

  it("use no tag that the published clients throw on, unless they are told to", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        reviveAsPublished(JSON.parse(encodeJson(value)));
      }),
      { numRuns: 500 },
    );
    expect(() => reviveAsPublished(JSON.parse(encodeJson(new Date(0), extended)))).toThrow("$Date");
  });

  it.each<[name: string, value: unknown, json: string]>([
    ["a bigint", 10n, '["$BigInt","10"]'],
    ["bytes", new Uint8Array([1, 2]), '["$Uint8Array","AQI="]'],
    ["the bytes of a view", new Uint8Array([0, 1, 2, 3]).subarray(1, 3), '["$Uint8Array","AQI="]'],
    ["an ArrayBuffer", new Uint8Array([1, 2, 3]).buffer, '["$ArrayBuffer","AQID"]'],
    ["undefined", undefined, '["$Undefined",0]'],
    ["undefined within", { a: [undefined] }, '{"a":[["$Undefined",0]]}'],
    ["a Set", new Set([1, 2n]), '["$Set",[1,["$BigInt","2"]]]'],
    ["a Set that looks like a pair", new Set(["$x", 1]), '["$Set",["$x",1]]'],
    ["a look-alike", ["$x", 1], '["$$x",1]'],
    ["an escaped look-alike", ["$$x", 1], '["$$$x",1]'],
    ["an array of three that begins alike", ["$x", 1, 2], '["$x",1,2]'],
    ["half a surrogate pair", "\ud800", '"\\ud800"'],
    ["a prototype that is data", JSON.parse('{"__proto__":[1]}'), '{"__proto__":[1]}'],
  ])("write %s as the published clients do", (_name, value, json) => {
    expect(encodeJson(value)).toBe(json);
    expect(encodeJson(value, extended)).toBe(json);
    expect(portrait(decodeJson(json))).toBe(portrait(value));
  });

  it.each<[name: string, value: unknown, plain: string, full: string]>([
    ["a Date", new Date(5), '"1970-01-01T00:00:00.005Z"', '["$Date",5]'],
    ["an invalid Date", new Date(NaN), "null", '["$Date",null]'],
    ["a Map", new Map([["$k", 1]]), "{}", '["$Map",[["$k",1]]]'],
    ["a RegExp", /^$/g, '"/^$/g"', '["$RegExp",["^$","g"]]'],
    ["an Error", new TypeError("m"), '{"name":"TypeError","message":"m"}', '["$Error",["TypeError","m",{}]]'],
    ["a Float64Array", new Float64Array([1, NaN]), "[1,null]", '["$Float64Array","AAAAAAAA8D8AAAAAAAD4fw=="]'],
    ["a BigInt64Array", new BigInt64Array([1n]), '[["$BigInt","1"]]', '["$BigInt64Array","AQAAAAAAAAA="]'],
    ["a DataView", new DataView(new Uint8Array([1, 2]).buffer), '["$Uint8Array","AQI="]', '["$DataView","AQI="]'],
    ["NaN", NaN, "null", '["$Number","NaN"]'],
    ["-Infinity", -Infinity, "null", '["$Number","-Infinity"]'],
    ["-0", -0, "0", '["$Number","-0"]'],
  ])("degrade %s for the published clients, and keep it for our own", (_name, value, plain, full) => {
    expect(encodeJson(value)).toBe(plain);
    expect(encodeJson(value, extended)).toBe(full);
    expect(portrait(decodeJson(full))).toBe(portrait(value));
  });

  it("read what a person types, and what the published client was seen to send", () => {
    expect(decodeJson(' {"a": [1, null, "x"]} ')).toEqual({ a: [1, null, "x"] });
    const captured =
      '{"args":[1,null,"1970-01-01T00:00:00.005Z",["$BigInt","10"],["$Uint8Array","AQI="],{},{},["$$x",1]]}';
    expect(decodeJson(captured)).toEqual({
      args: [1, null, "1970-01-01T00:00:00.005Z", 10n, new Uint8Array([1, 2]), {}, {}, ["$x", 1]],
    });
  });

  it("set no prototype", () => {
    const value = decodeJson('{"__proto__":{"admin":["$BigInt","1"]}}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(value, "__proto__")?.value).toEqual({ admin: 1n });
  });
});

describe("encodeJson of what has no encoding", () => {
  it("throws as encodeValue does", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    for (const value of [
      () => 1,
      { a: Symbol("s") },
      cycle,
      new Map([[1, () => 1]]),
      new Error("m", { cause: () => 1 }),
      Object.create({}),
    ]) {
      expect(codeOf(() => encodeJson(value))).toBe("value/not_serializable 400");
      expect(codeOf(() => encodeJson(value, extended))).toBe("value/not_serializable 400");
    }
    expect(() => encodeJson({ a: [() => 1] })).toThrow("Value at $.a[0] is not serializable: function");
  });
});

describe("decodeJson of malformed text", () => {
  it.each([
    "",
    "{",
    "undefined",
    '["$What",1]',
    '["$",1]',
    '["$BigInt","1.5"]',
    '["$BigInt",1]',
    '["$BigInt",""]',
    '["$Uint8Array","!"]',
    '["$Uint8Array","A"]',
    '["$Float64Array","AQI="]',
    '["$Set",1]',
    '["$Map",[[1]]]',
    '["$Map",[1]]',
    '["$RegExp",["(",""]]',
    '["$RegExp","a"]',
    '["$Error",["Error"]]',
    '["$Error",["Error","m",[]]]',
    '["$Error",["Error","m",["$Undefined",0]]]',
    '["$Number","1"]',
    '["$Date","x"]',
    '["$constructor","x"]',
  ])("throws encoding/invalid for %s", (text) => {
    expect(codeOf(() => decodeJson(text))).toBe("encoding/invalid 400");
  });

  it("throws it for nesting that would use up the stack", () => {
    expect(codeOf(() => decodeJson("[".repeat(200_000) + "]".repeat(200_000)))).toBe("encoding/invalid 400");
  });

  it("throws nothing else, whatever tags and payloads meet", () => {
    const tree = fc.json({ maxDepth: 3 }).map((text): unknown => JSON.parse(text));
    const tagged = fc.tuple(fc.constantFrom(...Object.keys(tagNames)), tree).map((pair) => JSON.stringify(pair));
    fc.assert(
      fc.property(tagged, (text) => {
        expect(["nothing thrown", "encoding/invalid 400"]).toContain(codeOf(() => decodeJson(text)));
      }),
      { numRuns: 700 },
    );
  });
});

describe("toJsonTree and fromJsonTree", () => {
  it("embed a value in something larger", () => {
    const body = JSON.stringify({ output: toJsonTree([1n, undefined]) });
    expect(body).toBe('{"output":[["$BigInt","1"],["$Undefined",0]]}');
    expect(fromJsonTree((JSON.parse(body) as { output: unknown }).output)).toEqual([1n, undefined]);
  });
});

const tagNames = {
  $BigInt: 0,
  $ArrayBuffer: 0,
  $Uint8Array: 0,
  $Undefined: 0,
  $Set: 0,
  $Map: 0,
  $Date: 0,
  $RegExp: 0,
  $Error: 0,
  $Number: 0,
  $DataView: 0,
  $Float64Array: 0,
  $Int16Array: 0,
  $BigInt64Array: 0,
  $$x: 0,
  $x: 0,
  $: 0,
  $$: 0,
};

describe("encodeJson of what is too large", () => {
  it("refuses it soon: shared parts that double at each level, holes, one long text many times", () => {
    let shared: unknown = "boom";
    for (let i = 0; i < 30; i++) shared = [shared, shared];
    const long = "x".repeat(1_000_000);
    for (const value of [shared, new Array(4e9), Array.from({ length: 1000 }, () => long)]) {
      expect(() => encodeJson({ value })).toThrow(
        expect.objectContaining({
          group: "value",
          code: "too_large",
          metadata: expect.objectContaining({ path: "$.value" }),
        }),
      );
    }
  });
});
