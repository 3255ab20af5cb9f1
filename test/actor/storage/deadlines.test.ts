import { describe, expect, it } from "vitest";
import { DEADLINE_IDS, KEYS } from "../../../src/actor/index.js";
import { Deadlines, DirtySet } from "../../../src/actor/internal.js";
import { decodeValue, encodeValue } from "../../../src/protocol/index.js";

function table(stored: Readonly<Record<string, object>> = {}) {
  const dirty = new DirtySet();
  let changes = 0;
  const deadlines = new Deadlines(dirty, () => void (changes += 1));
  deadlines.load(Object.entries(stored).map(([key, row]) => [key, encodeValue(row)] as const));
  return { deadlines, dirty, changes: () => changes };
}

const JOB = {
  cadence: { kind: "every", interval: 5_000, anchor: 0 },
  action: "a",
  args: encodeValue([]),
  maxHistory: 1,
  occurrences: 0,
  at: 2,
} as const;

describe("the table of deadlines", () => {
  it("keeps each kind under its own key, as it always was", () => {
    const { deadlines, dirty, changes } = table();
    deadlines.schedules.put("s", { at: 1, action: "a", args: encodeValue([]) });
    deadlines.jobs.put("j", JOB);
    deadlines.replies.put("7", { at: 3, createdAt: 0, reply: undefined });
    deadlines.recheck.put({ at: 4, delayMs: 1, message: "m" });
    deadlines.destroy.put({ at: 5 });
    deadlines.idle.put({ at: 6, tries: 0 });
    deadlines.parts.put("p", { at: 7, text: "own" });
    const { puts } = dirty.build();
    expect([...puts.keys()]).toEqual([
      "d/at/s",
      "d/cron/j",
      "d/reply/7",
      "d/workflow",
      "d/destroy",
      "d/idle",
      "d/part/p",
    ]);
    expect(decodeValue(puts.get("d/idle") as Uint8Array)).toEqual({ at: 6, tries: 0 });
    expect(puts.size).toBe(Object.keys(DEADLINE_IDS).length);
    expect([deadlines.times(), deadlines.times(deadlines.idle), changes()]).toEqual([
      [1, 2, 3, 4, 5, 6, 7],
      [1, 2, 3, 4, 5, 7],
      7,
    ]);
  });

  it("reads what is stored, each kind by itself, and nothing is dirty because of it", () => {
    const { deadlines, dirty, changes } = table({
      "d/cron/at/x": JOB,
      "d/at/y": { at: 1, action: "a" },
      "d/idle": { at: 9, tries: 2 },
    });
    expect(deadlines.schedules.all()).toEqual([["y", { at: 1, action: "a" }]]);
    expect(deadlines.jobs.all()).toEqual([["at/x", JOB]]);
    expect([deadlines.jobs.get("at/x"), deadlines.jobs.get("y"), deadlines.idle.get()]).toEqual([
      JOB,
      undefined,
      { at: 9, tries: 2 },
    ]);
    expect([dirty.isEmpty, changes()]).toEqual([true, 0]);
  });

  it("deletes a row once, and a row that is not there never", () => {
    const { deadlines, dirty, changes } = table({ "d/at/y": { at: 1 } });
    deadlines.schedules.delete("nobody");
    deadlines.recheck.delete();
    expect([dirty.isEmpty, changes()]).toEqual([true, 0]);
    deadlines.schedules.delete("y");
    deadlines.schedules.delete("y");
    expect([[...dirty.build().deletes], changes(), deadlines.times()]).toEqual([["d/at/y"], 1, []]);
  });

  it("knows the times of rows of kinds that it does not know: a later release wrote them, and the alarm is theirs, too", () => {
    const { deadlines } = table({
      [KEYS.deadline("later/z")]: { at: 3, what: "?" },
      [KEYS.deadline("idle")]: { at: 9, tries: 0 },
    });
    expect(deadlines.times()).toEqual([3, 9]);
    expect(deadlines.schedules.all()).toEqual([]);
  });

  it("stores a row as it was when it was put, without what its prototype has", () => {
    const { deadlines, dirty } = table();
    const row = Object.assign(Object.create({ tries: 7 }), { at: 1 });
    deadlines.idle.put(row);
    row.at = 2;
    expect(decodeValue(dirty.build().puts.get("d/idle") as Uint8Array)).toEqual({ at: 1 });
  });
});
