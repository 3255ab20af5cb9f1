import { describe, expect, it } from "vitest";
import { headlineOf, type InspectedSummary } from "../../../src/inspector-page/internal.js";
import { entryAt } from "./entries.js";

const NOW = 10_000_000;
const summaryOf = (workflow: InspectedSummary["workflow"]): InspectedSummary => ({
  actorId: "id",
  name: "order",
  key: ["o-1"],
  createdAt: 0,
  now: NOW,
  storageFormat: 1,
  isAwake: false,
  isRegistered: true,
  actions: [],
  workflow,
  queueSize: 0,
  connections: 0,
  schedules: 0,
  tables: 0,
  isDatabaseEnabled: false,
  hiddenTabs: [],
});
const told = (workflow: InspectedSummary["workflow"], entries: Parameters<typeof headlineOf>[1] = []) => {
  const { words, firstStep } = headlineOf(summaryOf(workflow), entries, NOW);
  return [words.map((word) => (typeof word === "string" ? word : `*${word.name}*`)).join(""), firstStep];
};
const parked = (activity: object, count = 1) =>
  ({ status: "running", parkedOn: { sentence: "", activities: [activity], count } }) as InspectedSummary["workflow"];

describe("the first line", () => {
  it("says where a workflow failed, why, and that nothing happens by itself", () => {
    const charge = entryAt(["charge"], {
      status: "failed",
      attempts: 4,
      error: { kind: "exhausted", name: "Error", message: "502" },
    });
    const failed = {
      status: "failed",
      endedAt: NOW - 37 * 60_000,
      error: { name: "Error", message: "wrapped" },
    } as const;
    expect(told(failed, [entryAt(["reserve"]), charge])).toEqual([
      "Failed 37 min ago in *charge* after 4 tries: 502. Nothing happens until you retry.",
      "retry",
    ]);
    expect(told({ status: "failed", error: { name: "TypeError", message: "" } })).toEqual([
      "Failed: TypeError. Nothing happens until you retry.",
      "retry",
    ]);
  });

  it("says what a workflow waits for, and until when", () => {
    expect(told(parked({ kind: "sleep", location: ["pause"], until: NOW + 120_000 }))[0]).toMatch(
      /^Sleeps in \*pause\* until \d\d:\d\d:\d\d, in 2 min\.$/,
    );
    expect(told(parked({ kind: "message", location: ["wait"], queues: ["a", "b"] }, 3))).toEqual([
      "Waits for a message on *a or b*. 2 more branches are open.",
      "send",
    ]);
    expect(told(parked({ kind: "retry", location: ["charge"], attempt: 4, at: NOW + 12_000, error: "502" }))).toEqual([
      "*charge* failed 3 times: 502. It is tried again in 12 s.",
      "resume",
    ]);
  });

  it("says since when, and why, a workflow is paused", () => {
    expect(told({ status: "paused", paused: { since: NOW - 60_000, reason: "the bank is down" } })).toEqual([
      "Paused 1 min ago: the bank is down. Nothing new begins until you resume.",
      "resume",
    ]);
    expect(told({ status: "paused" })[0]).toBe("Paused. Nothing new begins until you resume.");
  });

  it("says what runs", () => {
    expect(told(parked({ kind: "running", location: ["charge"], attempt: 2 }))[0]).toBe("Runs *charge*, attempt 2.");
    expect(told({ status: "running" })[0]).toBe("The workflow runs. What it does now has not been stored yet.");
  });

  it("says that it is over, or that there is none", () => {
    const times = { startedAt: NOW - 3_660_000, endedAt: NOW - 60_000 };
    expect(told({ status: "completed", ...times })[0]).toBe("Completed 1 min ago, after 1 h. Nothing is left to do.");
    expect(told({ status: "cancelled" })[0]).toBe("Cancelled. Nothing more happens.");
    expect(told({ status: "none" })[0]).toContain("no workflow");
  });

  it("is one line, however long a message is", () => {
    const [line = ""] = told({ status: "failed", error: { name: "Error", message: "a\nb ".repeat(10_000) } });
    expect(String(line).length).toBeLessThan(260);
    expect(line).not.toContain("\n");
  });
});
