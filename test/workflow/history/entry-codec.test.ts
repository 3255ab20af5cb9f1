import { describe, expect, it } from "vitest";
import { decodeValue, encodeValue } from "../../../src/protocol/index.js";
import { decodeEntry, encodeEntry, type Entry } from "../../../src/workflow/internal.js";

const full: Entry = {
  seq: 7,
  location: ["l", 3, "__proto__", "é\ud800"],
  kind: "step",
  status: "failed",
  rev: 9,
  attempts: 2,
  interrupted: 1,
  dueAt: 1_700_000_000_000,
  value: encodeValue({ a: 1n }),
  failure: {
    kind: "timeout",
    error: {
      name: "StepTimeoutError",
      message: "late",
      code: "E",
      metadata: { n: 1 },
      cause: { name: "Error", message: "root" },
    },
    exhausted: true,
  },
  completedSeq: 8,
  data: { iteration: 4, state: new Uint8Array([1]) },
  startedAt: 1_700_000_000_000,
  ms: 5,
  attemptStartedAt: 1_700_000_000_004,
  failedAttempts: [{ attempt: 1, startedAt: 1_700_000_000_000, ms: 3, name: "Error", message: "no" }],
};

describe("a stored entry", () => {
  it("comes back as it was", () => {
    expect(decodeEntry(7, encodeEntry(full))).toEqual(full);
    const small: Entry = {
      seq: 1,
      location: ["a"],
      kind: "sleep",
      status: "pending",
      rev: 1,
      attempts: 0,
      interrupted: 0,
    };
    expect(decodeEntry(1, encodeEntry(small))).toEqual(small);
    expect(encodeEntry(small).byteLength).toBeLessThan(40);
  });

  it("may have members that a later release adds: they are left out", () => {
    const stored = decodeValue(encodeEntry(full)) as Record<string, unknown>;
    expect(decodeEntry(7, encodeValue({ ...stored, z: ["later"] }))).toEqual(full);
  });

  it("is bytes of their own buffer", () => {
    const bytes = encodeEntry(full);
    expect(bytes.byteLength).toBe(bytes.buffer.byteLength);
  });

  it.each([
    ["bytes that are no value", new Uint8Array([0xff, 0x00])],
    ["another value", encodeValue([1, 2])],
    ["an entry without a location", encodeValue({ k: "step", s: "completed", r: 1 })],
    ["nothing", new Uint8Array()],
  ])("is refused when it is %s", (_, bytes) => {
    expect(() => decodeEntry(1, bytes)).toThrowError();
  });

  it("may hold a value of 2,000,000 bytes and what stands around it", () => {
    const value = encodeValue("x".repeat(1_999_990));
    expect(decodeEntry(7, encodeEntry({ ...full, value })).value).toEqual(value);
  });
});
