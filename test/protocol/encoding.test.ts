import { decode, encode } from "cbor-x";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ActorError,
  decodeTaggedCbor,
  encodeTaggedCbor,
  formatBase64,
  formatBase64Url,
  isEncoding,
  parseBase64,
  wireCodec,
  type Encoding,
  type ErrorData,
  type Frame,
  type QueueSendRequest,
  type ToClient,
  type ToServer,
} from "../../src/protocol/index.js";
import { decodePlainCbor, encodePlainCbor } from "../../src/protocol/internal.js";
import { anyKey, anyString, anyValue, hex, portrait, unhex } from "./arbitrary-values.js";
import { reviveAsPublished, tagAsPublished } from "./published-client.js";

const ENCODINGS: Encoding[] = ["json", "cbor", "bare"];
const extended = { extended: true };

const textOf = (bytes: Frame): string => (typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes));
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** "group/code status" of what `act` throws. */
function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (ActorError.isActorError(error)) return `${error.group}/${error.code} ${error.statusCode}`;
    throw error;
  }
  return "nothing thrown";
}

const anyId = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
/** Strings as names: JSON keeps lone surrogates, and so do the other encodings. */
const anyName = fc.oneof(anyString, anyKey);

const anyErrorData: fc.Arbitrary<ErrorData> = fc.record(
  {
    group: anyName,
    code: anyName,
    message: anyName,
    metadata: anyValue.filter((value) => value !== undefined && value !== null),
    actor: fc.record(
      { actorId: anyName, generation: fc.nat(), key: anyName },
      { requiredKeys: ["actorId", "generation"] },
    ),
  },
  { requiredKeys: ["group", "code", "message"] },
);

const anyToServer: fc.Arbitrary<ToServer> = fc.oneof(
  fc.record({
    tag: fc.constant("ActionRequest" as const),
    val: fc.record({ id: anyId, name: anyName, args: fc.array(anyValue, { maxLength: 3 }) }),
  }),
  fc.record({
    tag: fc.constant("SubscriptionRequest" as const),
    val: fc.record({ eventName: anyName, subscribe: fc.boolean() }),
  }),
);

const anyToClient: fc.Arbitrary<ToClient> = fc.oneof(
  fc.record({ tag: fc.constant("Init" as const), val: fc.record({ actorId: anyName, connectionId: anyName }) }),
  fc.record({
    tag: fc.constant("Error" as const),
    val: fc.tuple(anyErrorData, fc.option(anyId)).map(([data, actionId]) => ({ ...data, actionId })),
  }),
  fc.record({ tag: fc.constant("ActionResponse" as const), val: fc.record({ id: anyId, output: anyValue }) }),
  fc.record({
    tag: fc.constant("Event" as const),
    val: fc.record({ name: anyName, args: fc.array(anyValue, { maxLength: 3 }) }),
  }),
);

const anyQueueSend: fc.Arbitrary<QueueSendRequest> = fc.record(
  { body: anyValue, name: anyName, wait: fc.boolean(), timeout: fc.nat() },
  { requiredKeys: ["body"] },
);

/** cbor-x loses lone surrogates and byte order marks in longer strings, and renames one property. */
const portableText = anyKey.filter((key) => key.isWellFormed() && !key.startsWith("\ufeff") && key !== "__proto__");

/** What RivetKit's clients keep of a value, both ways. */
const portable: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>(
      null,
      undefined,
      true,
      NaN,
      -Infinity,
      2 ** 40,
      2n ** 70n,
      /a\/b/gi,
      new Date(5),
      new Error("m"),
    ),
    fc.integer(),
    fc.bigInt(),
    portableText,
    fc.uint8Array({ maxLength: 30 }).map((bytes) => Uint8Array.from(bytes)),
    fc.uint8Array({ maxLength: 30 }).map((bytes) => Uint8Array.from(bytes).buffer),
    fc.float64Array({ maxLength: 4 }).map((numbers) => Float64Array.from(numbers)),
    fc.array(tie("value"), { maxLength: 3 }),
    fc
      .tuple(fc.constantFrom("$x", "$$x", "$BigInt", "$Set", "$Undefined"), tie("value"))
      .map((pair): unknown[] => pair),
    fc.tuple(fc.constantFrom("$x", "$Set"), tie("value")).map((pair) => new Set<unknown>(pair)),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
    fc.array(fc.tuple(portableText, tie("value")), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(fc.tuple(portableText, tie("value")), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

describe.each(ENCODINGS)("between our own client and server in %s", (encoding) => {
  const codec = wireCodec(encoding);
  const runs = { numRuns: 150 };

  it("the arguments and the output of an action lose nothing", () => {
    fc.assert(
      fc.property(fc.array(anyValue, { maxLength: 3 }), anyValue, (args, output) => {
        expect(portrait(codec.actionRequest.decode(codec.actionRequest.encode({ args }, extended)))).toBe(
          portrait({ args }),
        );
        expect(portrait(codec.actionResponse.decode(codec.actionResponse.encode({ output }, extended)))).toBe(
          portrait({ output }),
        );
      }),
      runs,
    );
  });

  it("a message to a queue and its answer lose nothing", () => {
    fc.assert(
      fc.property(anyQueueSend, anyValue, (request, response) => {
        const back = codec.queueSendRequest.decode(codec.queueSendRequest.encode(request, extended));
        expect(portrait(sortedEntries(back))).toBe(portrait(sortedEntries(request)));
        const answer = { status: "completed" as const, response };
        const backAnswer = codec.queueSendResponse.decode(codec.queueSendResponse.encode(answer, extended));
        expect(portrait(backAnswer.response)).toBe(portrait(response));
      }),
      runs,
    );
    const timedOut = { status: "timedOut" as const };
    expect(codec.queueSendResponse.decode(codec.queueSendResponse.encode(timedOut))).toEqual(timedOut);
  });

  it("an error loses nothing", () => {
    fc.assert(
      fc.property(anyErrorData, (data) => {
        const back = codec.error.decode(codec.error.encode(data, extended));
        expect(portrait(sortedEntries(back))).toBe(portrait(sortedEntries(data)));
      }),
      runs,
    );
  });

  it("frames of a connection lose nothing", () => {
    const sorted = (frame: ToServer | ToClient): string => portrait([frame.tag, sortedEntries(frame.val)]);
    fc.assert(
      fc.property(anyToServer, anyToClient, (up, down) => {
        expect(sorted(codec.toServer.decode(codec.toServer.encode(up, extended)))).toBe(sorted(up));
        expect(sorted(codec.toClient.decode(codec.toClient.encode(down, extended)))).toBe(sorted(down));
      }),
      runs,
    );
  });

  it("a frame is text in json and bytes that own their buffer in the others, and is read from an ArrayBuffer too", () => {
    const frame = codec.toServer.encode({ tag: "SubscriptionRequest", val: { eventName: "ev", subscribe: true } });
    expect(typeof frame === "string").toBe(encoding === "json");
    const bytes = typeof frame === "string" ? Uint8Array.from(bytesOf(frame)) : frame;
    expect(bytes.buffer.byteLength).toBe(bytes.length);
    expect(codec.toServer.decode(bytes.buffer)).toEqual({
      tag: "SubscriptionRequest",
      val: { eventName: "ev", subscribe: true },
    });
  });

  it("the actor's id is answered", () => {
    expect(codec.resolveResponse.decode(codec.resolveResponse.encode({ actorId: "é" }))).toEqual({ actorId: "é" });
  });
});

describe("what the published clients were seen to send", () => {
  it.each([
    ["an action without arguments", "04 00 01 80", { args: [] }],
    ["an action in bare", "0400 0d 8201 82 6724426967496e74 6132", { args: [1, 2n] }],
  ])("is read: %s", (_name, bytes, request) => {
    expect(wireCodec("bare").actionRequest.decode(unhex(bytes))).toEqual(request);
  });

  it("is read: a send to a queue in bare", () => {
    const bytes = unhex("0400 10 b90001 6176 82 6724426967496e74 6131 01 04 6a6f6273 01 01 01 3200000000000000");
    expect(wireCodec("bare").queueSendRequest.decode(bytes)).toEqual({
      body: { v: 1n },
      name: "jobs",
      wait: true,
      timeout: 50,
    });
  });

  it("is read: frames in bare", () => {
    const { toServer } = wireCodec("bare");
    expect(toServer.decode(unhex("0400 01 02 6576 01"))).toEqual({
      tag: "SubscriptionRequest",
      val: { eventName: "ev", subscribe: true },
    });
    expect(toServer.decode(unhex("0400 00 00 03 616374 0d 8201 82 6724426967496e74 6132"))).toEqual({
      tag: "ActionRequest",
      val: { id: 0n, name: "act", args: [1, 2n] },
    });
  });

  it("is read: bodies and frames in json", () => {
    const { actionRequest, queueSendRequest, toServer } = wireCodec("json");
    expect(actionRequest.decode(bytesOf('{"args":[3]}'))).toEqual({ args: [3] });
    expect(queueSendRequest.decode(bytesOf('{"body":{"v":1},"name":"jobs","wait":true,"timeout":50}'))).toEqual({
      body: { v: 1 },
      name: "jobs",
      wait: true,
      timeout: 50,
    });
    expect(
      toServer.decode('{"body":{"tag":"ActionRequest","val":{"id":["$BigInt","0"],"name":"act","args":[1]}}}'),
    ).toEqual({
      tag: "ActionRequest",
      val: { id: 0n, name: "act", args: [1] },
    });
  });

  it("is read: a cbor request, in which a pair that looks tagged is a pair", () => {
    const request = { args: [["$x", 1], ["$BigInt", "1"], undefined, 2n, new Map([["a", new Date(5)]])] };
    expect(wireCodec("cbor").actionRequest.decode(new Uint8Array(encode(request)))).toEqual(request);
  });

  it("is read: any value, through bare", () => {
    fc.assert(
      fc.property(portable, (value) => {
        const payload = new Uint8Array(encode(tagAsPublished([value])));
        const frame = Uint8Array.from([4, 0, ...varint(payload.length), ...payload]);
        expect(portrait(wireCodec("bare").actionRequest.decode(frame))).toBe(portrait({ args: [value] }));
      }),
      { numRuns: 500 },
    );
  });
});

describe("what the published clients are sent", () => {
  it.each<[name: string, frame: Frame, text: string]>([
    ["an output", wireCodec("json").actionResponse.encode({ output: 3 }), '{"output":3}'],
    [
      "an output that is undefined",
      wireCodec("json").actionResponse.encode({ output: undefined }),
      '{"output":["$Undefined",0]}',
    ],
    [
      "the answer of a queue",
      wireCodec("json").queueSendResponse.encode({ status: "completed", response: { ok: 1 } }),
      '{"status":"completed","response":{"ok":1}}',
    ],
    [
      "an answer without response",
      wireCodec("json").queueSendResponse.encode({ status: "timedOut" }),
      '{"status":"timedOut"}',
    ],
    [
      "Init",
      wireCodec("json").toClient.encode({ tag: "Init", val: { actorId: "act1", connectionId: "c1" } }),
      '{"body":{"tag":"Init","val":{"actorId":"act1","connectionId":"c1"}}}',
    ],
    [
      "ActionResponse",
      wireCodec("json").toClient.encode({ tag: "ActionResponse", val: { id: 0n, output: { a: 1 } } }),
      '{"body":{"tag":"ActionResponse","val":{"id":["$BigInt","0"],"output":{"a":1}}}}',
    ],
    [
      "Event",
      wireCodec("json").toClient.encode({ tag: "Event", val: { name: "ev", args: [1, "x"] } }),
      '{"body":{"tag":"Event","val":{"name":"ev","args":[1,"x"]}}}',
    ],
    [
      "Error",
      wireCodec("json").toClient.encode({
        tag: "Error",
        val: { group: "user", code: "bad", message: "m", actionId: null },
      }),
      '{"body":{"tag":"Error","val":{"group":"user","code":"bad","message":"m","actionId":null}}}',
    ],
  ])("in json is what was captured: %s", (_name, frame, text) => {
    expect(textOf(frame)).toBe(text);
  });

  it.each<[name: string, bytes: Frame, digits: string]>([
    [
      "an output",
      wireCodec("bare").actionResponse.encode({ output: ["$x", 1n] }),
      "0400 0e 82 63 242478 1b0000000000000001",
    ],
    [
      "the answer of a queue",
      wireCodec("bare").queueSendResponse.encode({ status: "timedOut" }),
      "0400 08 74696d65644f7574 00",
    ],
    [
      "an error",
      wireCodec("bare").error.encode({
        group: "g",
        code: "c",
        message: "m",
        metadata: 1,
        actor: { actorId: "a", generation: 300, key: "k" },
      }),
      "0400 0167 0163 016d 010101 01 0161 ac02 01 016b",
    ],
    [
      "Init",
      wireCodec("bare").toClient.encode({ tag: "Init", val: { actorId: "a", connectionId: "c" } }),
      "0400 00 0161 0163",
    ],
    [
      "Error",
      wireCodec("bare").toClient.encode({ tag: "Error", val: { group: "g", code: "c", message: "m", actionId: 128n } }),
      "0400 01 0167 0163 016d 00 01 8001 00",
    ],
    [
      "ActionResponse",
      wireCodec("bare").toClient.encode({ tag: "ActionResponse", val: { id: 5n, output: null } }),
      "0400 02 05 01 f6",
    ],
    [
      "Event",
      wireCodec("bare").toClient.encode({ tag: "Event", val: { name: "ev", args: [] } }),
      "0400 03 02 6576 01 80",
    ],
    ["a resolved id", wireCodec("bare").resolveResponse.encode({ actorId: "a" }), "0400 0161"],
  ])("in bare is the struct of version 4: %s", (_name, bytes, digits) => {
    expect(hex(bytes as Uint8Array)).toBe(digits.replaceAll(" ", ""));
  });

  it("in cbor and bare has no tag that cbor-x does not know", () => {
    for (const value of [new DataView(new Uint8Array([1, 2]).buffer), new Uint8Array([1, 2])]) {
      expect(decode(encodeTaggedCbor(value))).toEqual(new Uint8Array([1, 2]));
    }
    expect(decodeTaggedCbor(encodeTaggedCbor(new DataView(new ArrayBuffer(2)), extended))).toEqual(
      new DataView(new ArrayBuffer(2)),
    );
  });

  it("in json has a body that is undefined", () => {
    expect(textOf(wireCodec("json").queueSendRequest.encode({ body: undefined }))).toBe('{"body":["$Undefined",0]}');
  });

  it("in cbor has ids of 64 bits", () => {
    const frame = wireCodec("cbor").toClient.encode({
      tag: "ActionResponse",
      val: { id: 1n, output: 1 },
    }) as Uint8Array;
    expect(decode(frame)).toEqual({ body: { tag: "ActionResponse", val: { id: 1n, output: 1 } } });
  });

  it("in cbor and bare is any value, as cbor-x and they read it", () => {
    fc.assert(
      fc.property(portable, (value) => {
        expect(portrait(reviveAsPublished(decode(encodeTaggedCbor(value))))).toBe(portrait(value));
        const body = wireCodec("cbor").actionResponse.encode({ output: value });
        expect(portrait(reviveAsPublished(decode(body)))).toBe(portrait({ output: value }));
      }),
      { numRuns: 500 },
    );
  });

  it("never makes them throw, whatever the value", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        reviveAsPublished(decode(encodeTaggedCbor(value)));
      }),
      { numRuns: 500 },
    );
  });
});

describe("the two kinds of CBOR", () => {
  it("differ in what becomes of a pair that looks tagged", () => {
    expect(decodePlainCbor(encodePlainCbor(["$BigInt", "1"]))).toEqual(["$BigInt", "1"]);
    expect(decodeTaggedCbor(encodeTaggedCbor(["$BigInt", "1"]))).toEqual(["$BigInt", "1"]);
    expect(decodeTaggedCbor(encodePlainCbor(["$BigInt", "1"]))).toBe(1n);
    expect(decodePlainCbor(encodeTaggedCbor(["$BigInt", "1"]))).toEqual(["$$BigInt", "1"]);
  });

  it("throw for a tag that nobody knows, and for a payload that does not fit", () => {
    for (const pair of [
      ["$What", 1],
      ["$Date", 1],
      ["$BigInt", 1],
      ["$Set", 1],
      ["$Uint8Array", "!"],
    ]) {
      expect(codeOf(() => decodeTaggedCbor(encodePlainCbor(pair)))).toBe("encoding/invalid 400");
    }
  });
});

describe("what a person types", () => {
  it("is read: no body at all, no args, numbers as ids, null for what is left out", () => {
    const { actionRequest, queueSendRequest, toServer } = wireCodec("json");
    expect(actionRequest.decode(new Uint8Array(0))).toEqual({ args: [] });
    expect(actionRequest.decode(bytesOf("{}"))).toEqual({ args: [] });
    expect(actionRequest.decode(bytesOf('\ufeff{"args":null,"more":1}'))).toEqual({ args: [] });
    expect(queueSendRequest.decode(bytesOf('{"body":1,"name":null,"wait":null,"timeout":null}'))).toEqual({ body: 1 });
    expect(queueSendRequest.decode(new Uint8Array(0))).toEqual({ body: undefined });
    const frame = toServer.decode('{"body":{"tag":"ActionRequest","val":{"id":7,"name":"act"}}}');
    expect(frame).toEqual({ tag: "ActionRequest", val: { id: 7n, name: "act", args: [] } });
  });
});

describe("an error whose metadata has no encoding", () => {
  it.each(ENCODINGS)("is sent without it in %s", (encoding) => {
    const { error, toClient } = wireCodec(encoding);
    const data = { group: "user", code: "bad", message: "m" };
    expect(error.decode(error.encode({ ...data, metadata: { f: () => 1 } }))).toEqual(data);
    const frame = toClient.encode({ tag: "Error", val: { ...data, metadata: Symbol("s"), actionId: 1n } });
    expect(toClient.decode(frame)).toEqual({ tag: "Error", val: { ...data, actionId: 1n } });
  });
});

describe("what cannot be sent", () => {
  it.each(ENCODINGS)("throws its own error in %s", (encoding) => {
    const codec = wireCodec(encoding);
    expect(codeOf(() => codec.actionResponse.encode({ output: () => 1 }))).toBe("value/not_serializable 400");
    expect(codeOf(() => codec.actionRequest.encode({ args: [Symbol("s")] }))).toBe("value/not_serializable 400");
    expect(codeOf(() => codec.toClient.encode({ tag: "Event", val: { name: "e", args: [() => 1] } }))).toBe(
      "value/not_serializable 400",
    );
    for (const timeout of [NaN, Infinity, -1]) {
      expect(codeOf(() => codec.queueSendRequest.encode({ body: 1, timeout }))).toBe("request/invalid 400");
    }
  });
});

describe("malformed messages", () => {
  const kinds = [
    "actionRequest",
    "actionResponse",
    "queueSendRequest",
    "queueSendResponse",
    "resolveResponse",
    "error",
    "toServer",
    "toClient",
  ] as const;
  const decodeOf = (encoding: Encoding, kind: (typeof kinds)[number]): ((bytes: Uint8Array) => unknown) => {
    const codec = wireCodec(encoding)[kind];
    return (bytes) => codec.decode(bytes);
  };

  it.each(ENCODINGS)("throw encoding/invalid and nothing else in %s, whatever the bytes", (encoding) => {
    const start = encoding === "bare" ? [4, 0] : [];
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.uint8Array({ maxLength: 40 }), (kind, bytes) => {
        const outcome = codeOf(() => decodeOf(encoding, kind)(Uint8Array.from([...start, ...bytes])));
        expect(["encoding/invalid 400", "nothing thrown"]).toContain(outcome);
      }),
      { numRuns: 500 },
    );
  });

  it.each(["json", "cbor"] as const)("throw it in %s for any value that is no message", (encoding) => {
    const encodeBody =
      encoding === "json" ? (value: unknown) => bytesOf(JSON.stringify(tagAsPublished(value))) : encodePlainCbor;
    const anyBody = fc.oneof(
      fc.json({ maxDepth: 2 }).map((text): unknown => JSON.parse(text)),
      fc.record(
        {
          body: fc.record({
            tag: fc.constantFrom("ActionRequest", "SubscriptionRequest", "Init", "Error", "Event", "x"),
            val: fc.dictionary(
              fc.constantFrom("id", "name", "args", "eventName", "subscribe", "group"),
              fc.constantFrom<unknown>(1, -1, 1.5, "a", null, true, [], {}),
            ),
          }),
          args: fc.constantFrom<unknown>(1, "a", {}, true),
          status: fc.constantFrom<unknown>("done", 1, null),
          timeout: fc.constantFrom<unknown>("1", -1, {}, []),
          actor: fc.constantFrom<unknown>(1, {}, { actorId: 1 }, { actorId: "a", generation: "x" }),
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.constantFrom(...kinds), anyBody, (kind, value) => {
        expect(["encoding/invalid 400", "nothing thrown"]).toContain(
          codeOf(() => decodeOf(encoding, kind)(encodeBody(value))),
        );
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["json", "actionRequest", hex(bytesOf('{"args":1}'))],
    ["json", "actionRequest", hex(bytesOf("[1]"))],
    ["json", "actionRequest", "ff"],
    ["json", "queueSendRequest", hex(bytesOf('{"body":1,"timeout":-1}'))],
    ["json", "queueSendRequest", hex(bytesOf('{"body":1,"wait":"yes"}'))],
    ["json", "queueSendResponse", hex(bytesOf('{"status":"done"}'))],
    ["json", "toServer", hex(bytesOf('{"body":{"tag":"ActionRequest","val":{"id":-1,"name":"a"}}}'))],
    ["json", "toServer", hex(bytesOf('{"body":{"tag":"ActionRequest","val":{"id":1.5,"name":"a"}}}'))],
    ["json", "toServer", hex(bytesOf('{"body":{"tag":"Nothing","val":{}}}'))],
    ["json", "error", hex(bytesOf('{"group":"a","code":"b"}'))],
    ["cbor", "actionRequest", ""],
    ["bare", "actionRequest", ""],
    ["bare", "actionRequest", "0300 0180"],
    ["bare", "actionRequest", "0400 0180 00"],
    ["bare", "actionRequest", "0400 0101"],
    ["bare", "actionRequest", "0400 ffffffffffffffffffff01"],
    ["bare", "actionRequest", "0400 8100 80"],
    ["bare", "queueSendRequest", "0400 0101 02 00 00"],
    ["bare", "toServer", "0400 00 ffffffffffffffffff7f 0161 0180"],
    ["bare", "toServer", "0400 02"],
  ] as const)("throw it: %s %s %s", (encoding, kind, digits) => {
    expect(codeOf(() => decodeOf(encoding, kind)(unhex(digits)))).toBe("encoding/invalid 400");
  });

  it("throw it for a text frame where bytes belong", () => {
    for (const encoding of ["cbor", "bare"] as const) {
      expect(codeOf(() => wireCodec(encoding).toServer.decode("{}"))).toBe("encoding/invalid 400");
      expect(codeOf(() => wireCodec(encoding).toClient.decode("{}"))).toBe("encoding/invalid 400");
    }
  });
});

describe("base64", () => {
  it("is what the platform makes of the same bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
        expect(formatBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
        expect(formatBase64Url(bytes)).toBe(Buffer.from(bytes).toString("base64url"));
        expect(hex(parseBase64(formatBase64(bytes)))).toBe(hex(bytes));
        expect(hex(parseBase64(formatBase64Url(bytes)))).toBe(hex(bytes));
      }),
    );
  });

  it("throws encoding/invalid for anything else", () => {
    for (const text of ["A", "AAAAA", "A B=", "AA=A", "é", "===="])
      expect(codeOf(() => parseBase64(text))).toBe("encoding/invalid 400");
  });
});

describe("isEncoding", () => {
  it("knows the three, and no inherited name", () => {
    expect(ENCODINGS.every(isEncoding)).toBe(true);
    for (const text of ["", "JSON", "constructor", undefined, null]) expect(isEncoding(text)).toBe(false);
  });
});

function sortedEntries(record: object): [string, unknown][] {
  return Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)];
}
