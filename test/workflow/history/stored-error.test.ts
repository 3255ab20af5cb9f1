import { describe, expect, it } from "vitest";
import { ActorError, UserError, encodeValue } from "../../../src/protocol/index.js";
import { fromStoredError, toStoredError } from "../../../src/workflow/internal.js";

const roundTrip = (thrown: unknown): Error => fromStoredError(toStoredError(thrown));

describe("a stored error", () => {
  it("keeps name, message, code, metadata and cause, and no stack (P40, P60)", () => {
    const thrown = Object.assign(new RangeError("too far", { cause: new TypeError("root") }), {
      code: "E_FAR",
      metadata: { at: new Date(1), n: 1n },
    });
    const error = roundTrip(thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "RangeError",
      message: "too far",
      code: "E_FAR",
      metadata: { at: new Date(1), n: 1n },
      cause: { name: "TypeError", message: "root" },
    });
    expect(error.stack).not.toBe(thrown.stack);
  });

  it("is the same after any number of round trips", () => {
    const thrown = Object.assign(
      new Error("x", { cause: new ActorError("user", "bad", "why", { metadata: { a: 1 } }) }),
      { code: 5 },
    );
    const once = toStoredError(roundTrip(thrown));
    expect(once).toEqual(toStoredError(thrown));
    expect(toStoredError(fromStoredError(once))).toEqual(once);
  });

  it("keeps the group and code of the library's errors", () => {
    for (const thrown of [
      new UserError("mine", { code: "mine", metadata: { n: 1 } }),
      new ActorError("queue", "full", "Queue is full"),
    ]) {
      const error = roundTrip(thrown) as ActorError;
      expect(ActorError.isActorError(error)).toBe(true);
      expect([error.group, error.code, error.message, error.metadata, error.name]).toEqual([
        thrown.group,
        thrown.code,
        thrown.message,
        thrown.metadata,
        thrown.name,
      ]);
    }
  });

  it.each([
    ["a text", "text", "text"],
    ["undefined", undefined, "undefined"],
    ["null", null, "null"],
    ["a number", 5, "5"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["an object without a prototype", Object.create(null), "(a value that cannot be printed)"],
  ])("is made of %s that was thrown", (_, thrown, message) => {
    expect(toStoredError(thrown)).toEqual({ name: "Error", message });
  });

  it("takes an object with a message for an error", () => {
    expect(toStoredError({ name: "Odd", message: "odd", code: "E" })).toEqual({
      name: "Odd",
      message: "odd",
      code: "E",
    });
  });

  it("never throws, whatever was thrown", () => {
    const hostile = new Error("x");
    for (const key of ["name", "message", "cause", "code", "metadata", "group"]) {
      Object.defineProperty(hostile, key, {
        get() {
          throw new Error("no");
        },
      });
    }
    expect(() => toStoredError(hostile)).not.toThrow();
    const loop = new Error("loop") as Error & { cause: unknown };
    loop.cause = loop;
    expect(() => toStoredError(loop)).not.toThrow();
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(() => toStoredError(revoked.proxy)).not.toThrow();
  });

  it("leaves out what cannot be stored and cuts what is too long, so that an entry can always hold it", () => {
    const thrown = Object.assign(new Error("m".repeat(1_000_000)), {
      name: "n".repeat(100_000),
      metadata: { f: () => 1 },
    });
    let at: Error = thrown;
    for (let depth = 0; depth < 50; depth += 1) {
      const cause = Object.assign(new Error("c".repeat(100_000)), { metadata: "d".repeat(100_000) });
      at.cause = cause;
      at = cause;
    }
    const stored = toStoredError(thrown);
    expect(stored.metadata).toBeUndefined();
    expect(encodeValue(stored).byteLength).toBeLessThan(500_000);
  });
});
