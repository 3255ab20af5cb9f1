import { describe, expect, it } from "vitest";
import {
  ActorError,
  isBeyondLimit,
  MAX_STORED_DEPTH,
  MAX_WIRE_DEPTH,
  wireCodec,
  type Encoding,
} from "../../src/protocol/index.js";
import { portrait } from "./arbitrary-values.js";

type Wrap = (inner: unknown) => unknown;

/** All kinds of containers; the innermost holds a leaf, which may be a tagged pair on the wire. */
const containers: [name: string, wrap: Wrap][] = [
  ["arrays", (inner) => [inner]],
  ["arrays that look like pairs", (inner) => ["$x", inner]],
  ["objects", (inner) => ({ inner })],
  ["Maps", (inner) => new Map([["k", inner]])],
  ["keys of Maps", (inner) => new Map([[inner, 1]])],
  ["Sets", (inner) => new Set([inner])],
  ["errors", (inner) => new Error("m", { cause: inner })],
];
const leaves: unknown[] = [
  0,
  undefined,
  5n,
  new Date(7),
  new Uint8Array([1]),
  new Uint8Array([1]).buffer,
  /x/g,
  -0,
  NaN,
];

function nested(levels: number, wrap: Wrap, leaf: unknown): unknown {
  let value = leaf;
  for (let i = 0; i < levels; i++) value = wrap(value);
  return value;
}

/** Every way in which a caller's value arrives. */
function ways(encoding: Encoding): [name: string, send: (value: unknown) => unknown][] {
  const { actionRequest, queueSendRequest, toServer } = wireCodec(encoding);
  const extended = { extended: true };
  const call = (value: unknown): Parameters<typeof toServer.encode>[0] => ({
    tag: "ActionRequest",
    val: { id: 1n, name: "a", args: [value] },
  });
  return [
    ["an argument", (value) => actionRequest.decode(actionRequest.encode({ args: [value] }, extended)).args[0]],
    ["a message's body", (value) => queueSendRequest.decode(queueSendRequest.encode({ body: value }, extended)).body],
    [
      "an argument in a frame",
      (value) =>
        (toServer.decode(toServer.encode(call(value), extended)) as ReturnType<typeof call> & { tag: "ActionRequest" })
          .val.args[0],
    ],
  ];
}

describe.each<Encoding>(["json", "cbor", "bare"])("what a caller sends in %s", (encoding) => {
  it.each(containers)(`has at most ${MAX_WIRE_DEPTH} levels of %s`, (_name, wrap) => {
    for (const [way, send] of ways(encoding)) {
      for (const leaf of leaves) {
        const most = nested(MAX_WIRE_DEPTH, wrap, leaf);
        expect(portrait(send(most)), way).toBe(portrait(most));
        let reason: unknown;
        try {
          send(wrap(most));
        } catch (error) {
          reason = error;
        }
        expect(reason, way).toMatchObject({ group: "encoding", code: "invalid", statusCode: 400 });
        expect(isBeyondLimit(reason)).toBe(true);
      }
    }
  });

  it.each(containers)("is answered with all that is stored: as many levels of %s as that has", (_name, wrap) => {
    const { actionResponse, queueSendResponse, toClient } = wireCodec(encoding);
    for (const leaf of leaves) {
      const output = nested(MAX_STORED_DEPTH, wrap, leaf);
      const extended = { extended: true };
      expect(portrait(actionResponse.decode(actionResponse.encode({ output }, extended)).output)).toBe(
        portrait(output),
      );
      const reply = { status: "completed" as const, response: output };
      if (output !== undefined)
        expect(portrait(queueSendResponse.decode(queueSendResponse.encode(reply, extended)).response)).toBe(
          portrait(output),
        );
      const event = { tag: "Event" as const, val: { name: "e", args: [output] } };
      expect(portrait((toClient.decode(toClient.encode(event, extended)) as typeof event).val.args)).toBe(
        portrait([output]),
      );
    }
  });
});

describe("isBeyondLimit", () => {
  it("knows no other error", () => {
    expect(isBeyondLimit(new ActorError("encoding", "invalid", "m"))).toBe(false);
    expect(isBeyondLimit(new Error("m"))).toBe(false);
  });
});
