import { describe, expect, it } from "vitest";
import { encodeValue } from "../../src/protocol/index.js";
import {
  CriticalError,
  EvictedError,
  JoinError,
  RaceError,
  RollbackError,
  StepExhaustedError,
  branchError,
  stepError,
  toBranchFailure,
  type Failure,
} from "../../src/workflow/index.js";
import { fitFailure } from "../../src/workflow/internal.js";

const nested = new JoinError({
  a: new StepExhaustedError("charge", Object.assign(new TypeError("no"), { code: "E" })),
  b: new RaceError("All branches failed", [
    { name: "x", error: new CriticalError("stop", { metadata: { n: 1 } }) },
    { name: "y", error: new JoinError({ deep: new RangeError("far") }) },
  ]),
});

describe("a branch's failure", () => {
  it.each([
    ["a plain error", Object.assign(new RangeError("r"), { code: "E", metadata: { a: 1 } })],
    ["a CriticalError", new CriticalError("stop", { metadata: { a: 1 }, cause: new Error("root") })],
    ["a RollbackError", new RollbackError("back")],
    ["an exhausted step", new StepExhaustedError("s", new Error("last"))],
    ["an eviction", new EvictedError()],
    ["joins and races in each other", nested],
  ])("comes back as the same error, by class and content: %s", (_, error) => {
    const once = branchError(toBranchFailure(error));
    expect(once.constructor).toBe(error instanceof RangeError ? Error : error.constructor);
    expect([once.name, once.message]).toEqual([error.name, error.message]);
    expect(toBranchFailure(once)).toEqual(toBranchFailure(error));
    expect(toBranchFailure(branchError(toBranchFailure(once)))).toEqual(toBranchFailure(error));
  });

  it("of a join gives every branch's error", () => {
    const error = branchError(toBranchFailure(nested)) as JoinError;
    expect(error.errors["a"]).toBeInstanceOf(StepExhaustedError);
    expect(error.errors["a"]).toMatchObject({
      stepName: "charge",
      lastError: { name: "TypeError", message: "no", code: "E" },
    });
    const race = error.errors["b"] as RaceError;
    expect(race).toBeInstanceOf(RaceError);
    expect(race.errors.map((each) => [each.name, each.error.constructor])).toEqual([
      ["x", CriticalError],
      ["y", JoinError],
    ]);
    expect((race.errors.at(-1)?.error as unknown as JoinError | undefined)?.errors["deep"]).toMatchObject({
      name: "RangeError",
      message: "far",
    });
  });
});

describe("a step's failure", () => {
  const failed = (kind: Failure["kind"], exhausted?: boolean): Error =>
    stepError("s", {
      kind,
      error: { name: "TypeError", message: "m", metadata: { a: 1 } },
      ...(exhausted === undefined ? {} : { exhausted }),
    });

  it("is thrown as the class of its kind", () => {
    expect(failed("exhausted")).toBeInstanceOf(StepExhaustedError);
    expect(failed("critical")).toBeInstanceOf(CriticalError);
    expect(failed("timeout")).toBeInstanceOf(CriticalError);
    expect(failed("timeout", true)).toBeInstanceOf(StepExhaustedError);
    expect(failed("rollback")).toBeInstanceOf(RollbackError);
    expect(failed("critical")).toMatchObject({ message: "m", metadata: { a: 1 } });
  });
});

describe("a failure that must fit", () => {
  const long = "é".repeat(5_000);
  it.each<[string, Error]>([
    [
      "a plain error",
      Object.assign(new Error(long), { name: long, code: long, metadata: long, cause: new Error(long) }),
    ],
    ["a critical error", new CriticalError(long, { metadata: { long } })],
    ["an exhausted step", new StepExhaustedError(long.slice(0, 500), new Error(long))],
    [
      "a failed join",
      new JoinError(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}`, new Error(long)]))),
    ],
  ])("is cut down and still rebuilt: %s", (_, error) => {
    for (const bytes of [300, 1_000, 4_000]) {
      const fitted = fitFailure(toBranchFailure(error), bytes);
      expect(encodeValue(fitted).byteLength).toBeLessThan(bytes + 600);
      const rebuilt = branchError(fitted);
      expect(rebuilt).toBeInstanceOf(Error);
      expect(rebuilt.message.length).toBeGreaterThan(10);
      if (error instanceof CriticalError || error instanceof StepExhaustedError)
        expect(rebuilt.constructor).toBe(error.constructor);
    }
  });

  it("is left alone when it fits", () => {
    const failure = toBranchFailure(new CriticalError("stop", { metadata: { a: 1 } }));
    expect(fitFailure(failure, 1_000)).toBe(failure);
  });
});
