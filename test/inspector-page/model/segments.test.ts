import { describe, expect, it } from "vitest";
import { segmentsOf } from "../../../src/inspector-page/internal.js";
import { entryAt } from "./entries.js";

const NOW = 10_000;
const shown = (...args: Parameters<typeof segmentsOf>): string[] =>
  segmentsOf(...args).map(
    ({ kind, from, to, attempt }) => `${kind} ${from}-${to}${attempt === undefined ? "" : ` #${attempt}`}`,
  );
const failedAt = (attempt: number, startedAt: number, ms: number) => ({
  attempt,
  startedAt,
  ms,
  name: "Error",
  message: "no",
});

describe("an entry's time", () => {
  it("is one attempt of a step that succeeded at once", () => {
    expect(shown(entryAt(["a"], { startedAt: 100, endedAt: 150, attemptStartedAt: 100 }), NOW)).toEqual([
      "done 100-150 #1",
    ]);
  });

  it("is attempts with waits between them", () => {
    const failedAttempts = [failedAt(1, 100, 10), failedAt(2, 200, 10)];
    const step = entryAt(["a"], { startedAt: 100, endedAt: 450, attemptStartedAt: 400, attempts: 3, failedAttempts });
    expect(shown(step, NOW)).toEqual([
      "failed 100-110 #1",
      "wait 110-200",
      "failed 200-210 #2",
      "wait 210-400",
      "done 400-450 #3",
    ]);
  });

  it("begins with the first attempt, if that came a moment after the entry", () => {
    const retried = {
      status: "pending",
      startedAt: 100,
      failedAttempts: [failedAt(1, 101, 9)],
      dueAt: 20_000,
    } as const;
    expect(shown(entryAt(["a"], retried), NOW)).toEqual(["failed 101-110 #1", "wait 110-10000"]);
    expect(shown(entryAt(["a"], { startedAt: 100, attemptStartedAt: 102, endedAt: 150 }), NOW)).toEqual([
      "done 102-150 #1",
    ]);
    const cutOff = { startedAt: 100, attemptStartedAt: 900, endedAt: 950, interrupted: 1 };
    expect(shown(entryAt(["a"], cutOff), NOW)).toEqual(["wait 100-900", "done 900-950 #1"]);
  });

  it("goes on to now while a step waits for its next attempt, or runs it", () => {
    const failedAttempts = [failedAt(1, 100, 10)];
    const waits = { status: "pending", startedAt: 100, attemptStartedAt: 100, failedAttempts } as const;
    expect(shown(entryAt(["a"], { ...waits, dueAt: 20_000 }), NOW)).toEqual(["failed 100-110 #1", "wait 110-10000"]);
    const runs = { status: "running", startedAt: 100, attemptStartedAt: 9_000, failedAttempts, attempts: 1 } as const;
    expect(shown(entryAt(["a"], runs), NOW)).toEqual(["failed 100-110 #1", "wait 110-9000", "running 9000-10000 #2"]);
  });

  it("ends with the last failed attempt of a step that gave up", () => {
    const failedAttempts = [failedAt(7, 700, 50)];
    const step = entryAt(["a"], { status: "failed", startedAt: 100, endedAt: 750, attempts: 7, failedAttempts });
    expect(shown(step, NOW)).toEqual(["wait 100-700", "failed 700-750 #7"]);
  });

  it("is a wait for sleeps and receives, and a line for what holds others", () => {
    expect(shown(entryAt(["z"], { kind: "sleep", status: "pending", startedAt: 100, dueAt: 99_000 }), NOW)).toEqual([
      "wait 100-10000",
    ]);
    expect(shown(entryAt(["l"], { kind: "loop", startedAt: 100, endedAt: 300 }), NOW)).toEqual(["span 100-300"]);
  });

  it("is nothing if an earlier release wrote it, and never runs backwards", () => {
    expect(segmentsOf(entryAt(["a"]), NOW)).toEqual([]);
    const clockWentBack = entryAt(["a"], {
      startedAt: 500,
      endedAt: 400,
      attemptStartedAt: 450,
      failedAttempts: [failedAt(1, 300, 10)],
    });
    for (const { from, to } of segmentsOf(clockWentBack, NOW)) expect(to).toBeGreaterThanOrEqual(from);
  });

  it("does not go on for what ended with the workflow", () => {
    expect(shown(entryAt(["a"], { status: "cancelled", startedAt: 100 }), NOW)).toEqual(["lost 100-100"]);
  });
});
