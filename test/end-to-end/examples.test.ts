import { DatabaseSync } from "node:sqlite";
import { ManualClock, World, type CommitFault } from "../../src/testing/index.js";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ActorError, encodeValue } from "../../src/protocol/index.js";
import { answerOf, EXAMPLE_RUNS, isLike, type ExampleRun } from "../support/example-runs.js";

const ANSWER_MS = 50;
const LOOKS = 1_000;
/** Crashes are tried at so many commits from when the messages are accepted. */
const MAX_COMMITS = 40;

/** Runs an example on a clock of its own; `fault` is asked at each commit from when all its messages are accepted. */
async function run(
  { registry, actor: name, sends = [], lookMs = 1_000, state }: ExampleRun,
  fault: CommitFault = () => undefined,
) {
  const clock = new ManualClock();
  vi.stubGlobal("setTimeout", (fire: () => void, durationMs: number) => clock.setTimer(clock.now() + durationMs, fire));
  vi.stubGlobal("fetch", (url: string, init: RequestInit = {}) =>
    answer(clock, url.replace("https://api.example.com/", ""), init),
  );
  let accepted: number | undefined;
  const world = new World(registry, {
    clock,
    nextTurn: (next) => void setImmediate(next),
    openDatabase: () => new DatabaseSync(":memory:"),
    fault: (actor, commit) => (actor.name === name && accepted !== undefined ? fault(commit - accepted) : undefined),
  });
  const actor = world.actor(name, ["k"]);
  await actor.call("getState");
  for (const [queue, body] of sends)
    await actor.send({ mode: "get" }, { kind: "send", queue, body: encodeValue(body(clock.now())) });
  accepted = actor.store.commits;
  // The object may die of a commit in the very turn of the look, which is then told so.
  const look = (): Promise<unknown> =>
    actor.call("getState").catch((error: unknown) => {
      if (!(error instanceof ActorError) || error.code !== "restarting") throw error;
    });
  let seen = await look();
  for (let looks = 0; looks < LOOKS && !isLike(seen, state); looks += 1) {
    await world.pass(lookMs);
    seen = await look();
  }
  return { actor, commits: actor.store.commits - accepted, state: seen };
}

async function answer(
  clock: ManualClock,
  path: string,
  { body, signal }: RequestInit,
): Promise<{ ok: boolean; status: number; json: () => Promise<unknown> }> {
  const given = answerOf(path, body);
  await new Promise((resolve, reject) => {
    if (given) clock.setTimer(clock.now() + ANSWER_MS, () => resolve(undefined));
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return { ok: given?.ok ?? false, status: given?.status ?? 0, json: async () => given?.body };
}

describe("each example comes to the same, wherever its actor is cut off", () => {
  afterEach(() => vi.unstubAllGlobals());

  for (const example of EXAMPLE_RUNS) {
    test(`${example.name}`, async () => {
      const undisturbed = await run(example);
      expect(undisturbed.state).toMatchObject(example.state);
      expect(undisturbed.commits).toBeGreaterThan(1);
      for (let at = 1; at <= Math.min(undisturbed.commits, MAX_COMMITS); at += 1) {
        for (const kind of ["crash-before", "crash-after"] as const) {
          const disturbed = await run(example, (commit) => (commit === at ? kind : undefined));
          expect(disturbed.state, `${kind} commit ${at}`).toMatchObject(example.state);
          expect(disturbed.actor.crashes, `${kind} commit ${at}`).toBe(1);
        }
      }
    });
  }
});
