import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { objectInspector, recordHistory } from "../../src/actor/index.js";
import { encodeValue } from "../../src/protocol/index.js";
import { ManualClock, type CommitFault, type World, type WorldActor } from "../../src/testing/index.js";
import { testWorld } from "../support/test-world.js";
import { seededRandom } from "../support/seeded-random.js";
import { canonical } from "./canonical.js";
import { occasionalCrashes } from "./faults.js";
import { operatedWorkloads } from "./operated-workloads.js";
import type { Workload } from "./workload.js";
import { workloads } from "./workloads.js";

type Fault = CommitFault;

/** Runs a workload to its end with crashes where `fault` says; nothing touches the actor once it exists. */
async function run(
  workload: Workload,
  fault: Fault = () => undefined,
): Promise<{ world: World; subject: WorldActor; runs: Map<string, number> }> {
  const clock = new ManualClock();
  const runs = new Map<string, number>();
  const registry = workload.registry(clock, (step) => runs.set(step, (runs.get(step) ?? 0) + 1));
  const openDatabase = (): DatabaseSync => new DatabaseSync(":memory:");
  const world = testWorld(registry, {
    clock,
    openDatabase,
    inspector: objectInspector(recordHistory),
    fault: (actor, commit) => (actor.name === "subject" ? fault(commit) : undefined),
  });
  const subject = world.actor("subject", ["k"]);
  for (let tries = 0; tries < 20 && !subject.store.keys.includes("a"); tries += 1) {
    await subject.call("get").catch(() => undefined);
    await world.settle();
  }
  await world.passUntilQuiet();
  for (const body of workload.sends ?? []) {
    for (let tries = 0, sent = false; tries < 20 && !sent; tries += 1) {
      sent = await subject.send({ mode: "get" }, { kind: "send", queue: "q", body: encodeValue(body) }).then(
        (reply) => reply.ok,
        () => false,
      );
    }
    await world.passUntilQuiet();
  }
  for (const inspect of workload.acts ?? []) {
    // Half of them find nothing in memory.
    if (inspect.about !== "cancel") await subject.evict();
    for (let tries = 0, done = false; tries < 20 && !done; tries += 1) {
      done = await subject.send({ mode: "get" }, { kind: "resolve", inspect }).then(
        (reply) => reply.ok,
        () => false,
      );
    }
    await world.passUntilQuiet();
  }
  return { world, subject, runs };
}

describe("crash everywhere", () => {
  for (const workload of [...workloads, ...operatedWorkloads]) {
    it(`${workload.name}: ends the same wherever it is cut off once`, async () => {
      const undisturbed = await run(workload);
      const expected = canonical(undisturbed.subject);
      const data = await workload.data?.(undisturbed.subject);
      expect(expected).toMatchObject({ exists: true, lease: false, alarm: null });
      const commits = undisturbed.subject.store.commits;
      expect(commits).toBeGreaterThan(3);
      for (let at = 1; at <= commits; at += 1) {
        for (const kind of ["crash-before", "crash-after"] as const) {
          const disturbed = await run(workload, (commit) => (commit === at ? kind : undefined));
          expect(disturbed.subject.crashes, `${kind} commit ${at}`).toBe(1);
          expect(canonical(disturbed.subject), `${kind} commit ${at}`).toEqual(expected);
          expect(await workload.data?.(disturbed.subject), `${kind} commit ${at}`).toEqual(data);
          for (const [step, count] of disturbed.runs) {
            const before = undisturbed.runs.get(step) ?? 0;
            expect(count, `runs of ${step}, ${kind} commit ${at}`).toBeLessThanOrEqual(before + 1);
          }
        }
      }
    });

    it(`${workload.name}: ends the same when it is cut off again and again`, async () => {
      const undisturbed = await run(workload);
      const expected = canonical(undisturbed.subject);
      const data = await workload.data?.(undisturbed.subject);
      for (let seed = 1; seed <= 25; seed += 1) {
        const disturbed = await run(workload, occasionalCrashes(seededRandom(seed), 0.3));
        expect(canonical(disturbed.subject), `seed ${seed}, ${disturbed.subject.crashes} crashes`).toEqual(expected);
        expect(await workload.data?.(disturbed.subject), `seed ${seed}`).toEqual(data);
      }
    });
  }
});
