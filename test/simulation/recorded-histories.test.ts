import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { recordHistory, replayHistory, type RecordedHistory } from "../../src/actor/index.js";
import { encodeValue } from "../../src/protocol/index.js";
import { ManualClock } from "../../src/testing/index.js";
import { testWorld } from "../support/test-world.js";
import type { Workload } from "./workload.js";
import { workloads } from "./workloads.js";

/** Histories of the subject as each turn that wrote left them. */
async function recordings(workload: Workload): Promise<RecordedHistory[]> {
  const clock = new ManualClock();
  const histories: RecordedHistory[] = [];
  const world = testWorld(
    workload.registry(clock, () => {}),
    {
      clock,
      openDatabase: () => new DatabaseSync(":memory:"),
      onDurable: (actor, rows) => {
        if (actor.name === "subject" && rows.has("a")) histories.push(recordHistory(rows, clock.now()));
      },
    },
  );
  const subject = world.actor("subject", ["k"]);
  await subject.call("get");
  await world.passUntilQuiet();
  for (const body of workload.sends ?? []) {
    await subject.send({ mode: "get" }, { kind: "send", queue: "q", body: encodeValue(body) });
    await world.passUntilQuiet();
  }
  return histories;
}

describe("recorded histories", () => {
  const host = {
    env: {},
    nextTurn: () => new Promise<void>((resolve) => setImmediate(resolve)),
    givenUp: new Promise<void>(() => {}),
  };

  it.each(workloads.map((workload) => [workload.name, workload] as const))(
    "%s: match the code that recorded them at every moment, and no step of them runs",
    async (_, workload) => {
      const histories = await recordings(workload);
      expect(histories.length).toBeGreaterThan(2);
      const ran: string[] = [];
      const registry = workload.registry(new ManualClock(), (step) => ran.push(step));
      for (const history of histories) {
        const filed: unknown = JSON.parse(JSON.stringify(history));
        expect(await replayHistory(registry.find("subject"), filed, host)).toEqual({ outcome: "matched" });
      }
      expect(ran).toEqual([]);
    },
  );
});
