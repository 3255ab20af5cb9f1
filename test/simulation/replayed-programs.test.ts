import { describe, expect, it } from "vitest";
import { recordHistory, replayHistory, type RecordedHistory, type Registry } from "../../src/actor/index.js";
import { decodeValue, NEWEST_STORAGE_FORMAT } from "../../src/protocol/index.js";
import { ManualClock } from "../../src/testing/index.js";
import { redactHistory } from "../../src/testing-kit/internal.js";
import { seededRandom } from "../support/seeded-random.js";
import { changeProgram, mustDiverge } from "./changed-programs.js";
import { ownerRegistry } from "./owner-actor.js";
import { hasRollback, type Node } from "./owner-programs.js";
import { programRegistry } from "./program-actor.js";
import type { Program } from "./programs.js";
import { simulateOwners } from "./simulate-owners.js";
import { simulate } from "./simulate.js";

const SEEDS = Number(process.env["SEEDS"] ?? 40);
const FIRST = Number(process.env["SEED"] ?? 1);
const COUNT = process.env["SEED"] === undefined ? SEEDS : 1;
const CHANGES_OF_A_PROGRAM = 10;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits outside of the engine take a turn each, however long they are. */
class SoonClock extends ManualClock {
  override delay(): Promise<void> {
    return nextTurn();
  }
}

/** A wait that does not end fails the test with its name. */
async function verdictOf(registry: Registry, history: RecordedHistory) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const givenUp = new Promise<void>((resolve) => (timer = setTimeout(resolve, 10_000)));
  const filed: unknown = JSON.parse(JSON.stringify(history));
  const verdict = await replayHistory(registry.find("subject"), filed, { env: {}, nextTurn, givenUp });
  clearTimeout(timer);
  return verdict;
}

/** The history in these rows. None of an actor that is deleted, has had no workflow yet, or is of a newer release. */
function historyIn(rows: ReadonlyMap<string, Uint8Array>, now: number): RecordedHistory[] {
  const row = rows.get("a");
  if (!row) return [];
  const { format, workflow } = decodeValue(row) as { format: number; workflow?: object };
  const isThere = workflow !== undefined && format <= NEWEST_STORAGE_FORMAT;
  return isThere ? [recordHistory(rows, now)] : [];
}

describe("histories of random programs", () => {
  const registryOf = (program: Program, say: (what: string) => void): Registry => {
    const nothing = (): void => {};
    const watch = {
      destroyInStep: false,
      attempt: (path: string) => say(`${path} ran`),
      began: nothing,
      waits: nothing,
      acknowledged: nothing,
      completed: nothing,
      violation: say,
    };
    return programRegistry(program, new SoonClock(), watch).whole;
  };

  it(`${COUNT} match as they stand at every moment, and diverge from changed code where it matters`, async () => {
    const wrong: string[] = [];
    const seen: Record<string, number> = {};
    for (let seed = FIRST; seed < FIRST + COUNT; seed += 1) {
      const say = (what: string): void => void wrong.push(`SEED=${seed} ${what}`);
      const histories: RecordedHistory[] = [];
      const { program } = await simulate(seed, (rows, now) => void histories.push(...historyIn(rows, now)));
      // What they give is not looked at: a redacted value is another.
      const same = registryOf(program, (what) => void (what.endsWith(" ran") && say(what)));
      for (const [moment, history] of histories.entries()) {
        const filed = moment % 3 === 0 ? [history, redactHistory(history, true)] : [history];
        for (const each of filed) {
          const verdict = await verdictOf(same, each);
          if (verdict.outcome !== "matched") say(`moment ${moment} of ${histories.length}: ${JSON.stringify(verdict)}`);
        }
      }
      const random = seededRandom(seed);
      for (let number = 0; number < CHANGES_OF_A_PROGRAM && histories.length > 0; number += 1) {
        const change = changeProgram(program, random);
        if (!change) continue;
        const registry = registryOf(change.program, () => {});
        const history = histories[Math.floor(random() * histories.length)] as RecordedHistory;
        const expected = mustDiverge(history.entries, change) ? "diverged" : "matched";
        const verdict = await verdictOf(registry, history);
        const redacted = await verdictOf(registry, redactHistory(history, true));
        const ofRedacted = expected === "diverged" && !change.isFirst ? [expected, "cannot tell"] : [expected];
        if (verdict.outcome !== expected || !ofRedacted.includes(redacted.outcome))
          say(`${change.what}: ${JSON.stringify(verdict)}, redacted ${redacted.outcome}, not ${expected}`);
        seen[redacted.outcome] = (seen[redacted.outcome] ?? 0) + 1;
      }
    }
    console.log(`replayed programs: ${JSON.stringify(seen)} of changed code`);
    expect(wrong).toEqual([]);
  });
});

describe("histories of random programs whose owners deploy, recover, replay and cancel them", () => {
  const watch = {
    broken: new Set<string>(),
    waited: () => {},
    placeholder: () => {},
    answered: () => {},
    began: () => {},
    woke: async () => {},
  };

  it(`${COUNT} match the code of their time at every moment, and the deploy after it`, async () => {
    const wrong: string[] = [];
    for (let seed = FIRST; seed < FIRST + COUNT; seed += 1) {
      const moments: { readonly history: RecordedHistory; readonly program: Node[] }[] = [];
      const programs: Node[][] = [];
      await simulateOwners(seed, (rows, now, program) => {
        if (programs.at(-1) !== program) programs.push(program);
        moments.push(...historyIn(rows, now).map((history) => ({ history, program })));
      });
      const undoes = hasRollback(programs[0] as Node[]);
      const registries = new Map(
        programs.map((program) => [program, ownerRegistry(program, undoes, new SoonClock(), watch as never)]),
      );
      for (const [moment, { history, program }] of moments.entries()) {
        const deploys = programs.slice(programs.indexOf(program)).slice(0, 2);
        for (const [later, deployed] of deploys.entries()) {
          const verdict = await verdictOf(registries.get(deployed) as Registry, history);
          if (verdict.outcome !== "matched")
            wrong.push(`SEED=${seed} moment ${moment} deploy ${later}: ${JSON.stringify(verdict)}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});
