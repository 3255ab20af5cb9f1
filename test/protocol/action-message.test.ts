import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeArguments,
  decodeValue,
  encodeAnswer,
  encodeValue,
  measure,
  wireCodec,
} from "../../src/protocol/index.js";
import { anyValue, hex, portrait } from "./arbitrary-values.js";

// An object reads the caller's own message and writes the caller's own answer. Both are what they would be if the values had
// passed through the storage codec, as between a Worker and an object of the release before.

const ENCODINGS = ["json", "cbor", "bare"] as const;

function attempt<T>(body: () => T): T | string {
  try {
    return body();
  } catch (error) {
    const { group, code, message } = error as { group?: string; code?: string; message: string };
    return `${group}/${code}: ${message}`;
  }
}

describe.each(ENCODINGS)("in %s", (encoding) => {
  test("arguments are those that an envelope would hold", () => {
    fc.assert(
      fc.property(fc.array(anyValue, { maxLength: 3 }), (args) => {
        const sent = attempt(() => wireCodec(encoding).actionRequest.encode({ args }, { extended: true }));
        if (typeof sent === "string") return;
        const read = attempt(() => decodeArguments({ encoding, extended: true, body: new Uint8Array(sent) }));
        if (typeof read === "string") return;
        expect(portrait(read)).toBe(portrait(decodeValue(encodeValue(read))));
      }),
      { numRuns: 300 },
    );
  });

  test.each([true, false])("a result is answered as if an envelope had held it (own client: %s)", (extended) => {
    const reader = { encoding, extended };
    const bytes = (frame: string | Uint8Array): string => (typeof frame === "string" ? frame : hex(frame));
    fc.assert(
      fc.property(anyValue, (result) => {
        const direct = attempt(() => {
          measure(result, 0, undefined, { what: "result" });
          return bytes(encodeAnswer(result, reader));
        });
        const stored = attempt(() => bytes(encodeAnswer(decodeValue(encodeValue(result, { what: "result" })), reader)));
        expect(direct).toBe(stored);
      }),
      { numRuns: 300 },
    );
  });

  test("an answer is the message that its reader decodes", () => {
    const frame = encodeAnswer({ at: new Date(5) }, { encoding, extended: true });
    const body = typeof frame === "string" ? new TextEncoder().encode(frame) : frame;
    expect(wireCodec(encoding).actionResponse.decode(body)).toEqual({ output: { at: new Date(5) } });
  });
});
