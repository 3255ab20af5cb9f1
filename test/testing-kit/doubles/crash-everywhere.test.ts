import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { ManualClock, type CommitFault, type WorldActor } from "../../../src/testing/index.js";
import { StepDoubles } from "../../../src/testing-kit/internal.js";
import { encodeValue } from "../../../src/protocol/index.js";
import { canonical } from "../../simulation/canonical.js";
import { occasionalCrashes } from "../../simulation/faults.js";
import type { Workload } from "../../simulation/workload.js";
import { workloads } from "../../simulation/workloads.js";
import { seededRandom } from "../../support/seeded-random.js";
import { testWorld } from "../../support/test-world.js";

/** Of a workload with more commits, that many of them, evenly. */
const MOST_POINTS = 24;

/** Runs a workload to its end; with doubles, every attempt of the subject meets one that calls through. */
async function run(
  workload: Workload,
  fault: CommitFault = () => undefined,
  doubles?: StepDoubles,
): Promise<WorldActor> {
  const clock = new ManualClock();
  const world = testWorld(
    workload.registry(clock, () => {}),
    {
      clock,
      openDatabase: () => new DatabaseSync(":memory:"),
      fault: (actor, commit) => (actor.name === "subject" ? fault(commit) : undefined),
      ...(doubles && {
        interceptAttempt: (attempt) => {
          doubles.of(attempt.name, [...attempt.step], attempt.isRollback).callsThrough();
          return doubles.run(attempt);
        },
        onDurable: (object, rows) => doubles.calls.stored(object, rows),
        onLeft: (object) => doubles.calls.ended(object),
      }),
    },
  );
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
  return subject;
}

/**
 * The runs of each attempt of the subject, by their outcomes in order. A step that was undone may run again, and then be
 * undone again: each begins anew with the end of the other.
 */
function outcomes(doubles: StepDoubles): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const call of doubles.calls.all) {
    const { name, step, attempt, isRollback } = call.of;
    if (name !== "subject") continue;
    const { outcome } = call.view();
    const id = JSON.stringify([isRollback, step, attempt]);
    found.set(id, [...(found.get(id) ?? []), outcome]);
    const other = JSON.stringify([!isRollback, step]).slice(0, -1);
    if (outcome === "fulfilled") for (const key of found.keys()) if (key.startsWith(`${other},`)) found.delete(key);
  }
  return found;
}

/** An attempt runs again only after a run that was lost or aborted, and the last run of none is lost. */
function checkRuns(doubles: StepDoubles, when: string): void {
  for (const [attempt, runs] of outcomes(doubles)) {
    const before = runs.slice(0, -1).filter((outcome) => outcome !== "lost" && outcome !== "aborted");
    expect(before, `${attempt}, ${when}`).toEqual([]);
    expect(runs.at(-1), `${attempt}, ${when}`).not.toBe("lost");
  }
}

const doublesOf = (workload: Workload): StepDoubles =>
  new StepDoubles(() => workload.registry(new ManualClock(), () => {}).actorNames);

describe("doubles that call through", () => {
  for (const workload of workloads) {
    it(`${workload.name}: come to the same wherever the process dies once`, async () => {
      const plain = await run(workload);
      const expected = canonical(plain);
      const { commits } = plain.store;
      for (let at = 1; at <= commits; at += Math.ceil(commits / MOST_POINTS)) {
        for (const kind of ["crash-before", "crash-after"] as const) {
          const doubles = doublesOf(workload);
          const subject = await run(workload, (commit) => (commit === at ? kind : undefined), doubles);
          expect(canonical(subject), `${kind} commit ${at}`).toEqual(expected);
          checkRuns(doubles, `${kind} commit ${at}`);
        }
      }
    });

    it(`${workload.name}: come to the same when it dies again and again`, async () => {
      const expected = canonical(await run(workload));
      for (let seed = 1; seed <= 4; seed += 1) {
        const doubles = doublesOf(workload);
        const subject = await run(workload, occasionalCrashes(seededRandom(seed), 0.3), doubles);
        expect(canonical(subject), `seed ${seed}, ${subject.crashes} crashes`).toEqual(expected);
        checkRuns(doubles, `seed ${seed}`);
      }
    });
  }
});
