import { describe, expect, it } from "vitest";
import { decodeValue, encodeValue } from "../../../src/protocol/index.js";
import { decodeEntry, encodeEntry, readEntry, type Entry } from "../../../src/workflow/internal.js";
import { seededRandom } from "../../support/seeded-random.js";

function randomOf(seed: number) {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  return {
    below,
    chance: (rate: number): boolean => random() < rate,
    pick: <T>(from: readonly T[]): T => from[below(from.length)] as T,
  };
}

const KINDS = ["step", "sleep", "message", "join", "version_check"] as const;
const STATUSES = ["pending", "running", "completed", "failed"] as const;
const NUMBERS = [0, 1, 23, 24, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, 1_790_000_000_000.5];
const NAMES = ["a", "step-1", "x".repeat(64), "x".repeat(65), "é", "\ud800", "__proto__", ""];

describe("the short way to read an entry", () => {
  it("reads what the codec reads, or leaves it to the codec", () => {
    const { pick, chance } = randomOf(7);
    let read = 0;
    for (let round = 0; round < 800; round += 1) {
      const entry: Entry = {
        seq: 7,
        ...(chance(0.3) && { seq: pick(NUMBERS), row: 7 }),
        location: Array.from({ length: pick([1, 1, 1, 2, 3, 30]) }, () => (chance(0.3) ? pick(NUMBERS) : pick(NAMES))),
        kind: pick(KINDS),
        status: pick(STATUSES),
        rev: pick(NUMBERS),
        attempts: pick(NUMBERS),
        interrupted: pick(NUMBERS),
        ...(chance(0.3) && { dueAt: pick(NUMBERS) }),
        ...(chance(0.5) && { value: new Uint8Array(pick([0, 1, 23, 24, 255, 256])).fill(7) }),
        ...(chance(0.5) && { completedSeq: pick(NUMBERS) }),
        ...(chance(0.7) && { startedAt: pick(NUMBERS), ...(chance(0.7) && { ms: pick(NUMBERS) }) }),
        ...(chance(0.2) && { attemptStartedAt: pick(NUMBERS) }),
        ...(chance(0.1) && { data: { iteration: 1 } }),
        ...(chance(0.1) && { failure: { kind: "error", error: { name: "Error", message: "m" } } }),
      };
      const found = readEntry(7, encodeEntry(entry));
      if (found) expect(found).toEqual(entry);
      if (found) read += 1;
      expect(decodeEntry(7, encodeEntry(entry))).toEqual(entry);
    }
    expect(read).toBeGreaterThan(200);
  });

  it("reads a value as long as a row may hold", () => {
    const value = new Uint8Array(1_900_000).fill(7);
    const row = encodeEntry({
      seq: 1,
      location: ["a"],
      kind: "step",
      status: "completed",
      rev: 1,
      attempts: 1,
      interrupted: 0,
      value,
    });
    expect(Buffer.compare(readEntry(1, row)?.value ?? new Uint8Array(), value)).toBe(0);
  });

  it("reads nothing out of a damaged row that the codec would not read there", () => {
    const { below } = randomOf(11);
    const row = encodeEntry({
      seq: 3,
      location: ["loop", 4, "step"],
      kind: "step",
      status: "completed",
      rev: 900,
      attempts: 1,
      interrupted: 0,
      value: encodeValue({ text: "as long as a small result" }),
      completedSeq: 900,
      startedAt: 1_700_000_000_000,
      ms: 12,
    });
    for (let at = 0; at <= row.length; at += 1)
      expect(readEntry(3, row.slice(0, at))).toEqual(at === row.length ? decodeEntry(3, row) : undefined);
    let same = 0;
    for (let round = 0; round < 5_000; round += 1) {
      const damaged = row.slice();
      damaged[below(row.length)] = below(256);
      const found = readEntry(3, damaged);
      if (!found) continue;
      const stored = decodeValue(damaged) as Record<string, unknown>;
      expect([found.location, found.kind, found.status, found.rev]).toEqual([
        stored["l"],
        stored["k"],
        stored["s"],
        stored["r"],
      ]);
      expect([found.attempts, found.value, found.completedSeq]).toEqual([stored["a"] ?? 0, stored["v"], stored["c"]]);
      same += 1;
    }
    expect(same).toBeGreaterThan(50);
  });

  it("shares an entry's value with its row, which nobody writes to", () => {
    const value = encodeValue("result");
    const row = encodeEntry({
      seq: 1,
      location: ["a"],
      kind: "step",
      status: "completed",
      rev: 1,
      attempts: 1,
      interrupted: 0,
      value,
    });
    expect(readEntry(1, row)?.value?.buffer).toBe(row.buffer);
  });
});

describe("a damaged row", () => {
  it.each([
    [
      "cut off",
      encodeEntry({
        seq: 9,
        location: ["a"],
        kind: "step",
        status: "pending",
        rev: 1,
        attempts: 0,
        interrupted: 0,
      }).slice(0, -1),
    ],
    ["something else", encodeValue(["another"])],
  ])("is told with its key when it is %s", (_, row) => {
    expect(() => decodeEntry(9, row)).toThrowError(
      expect.objectContaining({ group: "storage", code: "corrupt", message: expect.stringContaining("e/9") }),
    );
  });
});
