import type { ActorDefinitions, Registry } from "../actor/index.js";
import { readOptions } from "../protocol/index.js";
import { CrashEverywhereError, type Finding } from "./crashes/crash-finding.js";
import { momentsOf, sampled, type CrashMoment, type SeenCommit } from "./crashes/crash-moment.js";
import { DisturbedWorld } from "./crashes/disturbed-world.js";
import { progressOf } from "./crashes/progress.js";
import { differenceOf, outcomeOf, type WorldOutcome } from "./crashes/world-outcome.js";
import { worldOver, type TestWorld } from "./test-world.js";
import { readDuration } from "./world/duration.js";
import type { TestWorldOptions } from "./world/options.js";
import { WorldHost } from "./world/world-host.js";

export interface CrashEverywhereOptions<D extends ActorDefinitions> {
  /**
   * The workload: what callers do and what time passes. It is run many times, each time in a new world, and begins by
   * resetting what it keeps outside.
   *
   * A call of it that breaks because a process died is made again, as by a caller who got no answer and tries again.
   */
  readonly run: (world: TestWorld<D>) => unknown;
  /** What must hold whatever happened. It throws if it does not. */
  readonly check?: (world: TestWorld<D>) => unknown;
  /**
   * Whether each workflow's status, output and names of completed steps must be those of the undisturbed workload (default
   * true). False where they depend on time or ids.
   */
  readonly compare?: boolean;
  /** The most worlds with a disturbance (default 300). Of more moments so many are taken, as `seed` decides. */
  readonly maxCrashes?: number;
  /** Default 1. */
  readonly seed?: number;
  /** The longest that the world goes on after `run`, so that what was cut off comes to its end (default "1 hour"). */
  readonly settle?: number | string;
  /** Options of each world. */
  readonly world?: TestWorldOptions;
}

/** What `crashEverywhere` did. */
export interface CrashEverywhereReport {
  /** Commits and deletions of the undisturbed workload. */
  readonly commits: number;
  /** Moments at which it could be disturbed: before and after each commit, and where an actor rests. */
  readonly moments: number;
  /** How many of them were tried. */
  readonly tried: number;
  /** Of these, how many did not come: the workload does not do the same each time. */
  readonly missed: number;
}

const NAMES = ["run", "check", "compare", "maxCrashes", "seed", "settle", "world"] as const;
/** So many timers and alarms may come after `run`. */
const MAX_EVENTS = 10_000;

/**
 * Runs a workload once undisturbed, then once for every commit of every actor with its process dying before and after it, and
 * with the actor leaving memory wherever it rests. Each time `check` must hold, and each workflow must come to what it came to
 * undisturbed. Stops at the first moment at which it does not, and says which step ran twice or what was lost.
 *
 * What the undisturbed workload throws is thrown as it is.
 *
 * @throws {CrashEverywhereError} when a disturbance changes what comes out
 * @throws {TypeError} when an option is not valid
 * @example
 *     await crashEverywhere(registry, {
 *       async run(world) {
 *         charges.length = 0;
 *         await world.client.order.getOrCreate(["o-1"]).place();
 *         await world.advance("1 day");
 *       },
 *       check: () => expect(charges).toHaveLength(1),
 *     });
 */
export async function crashEverywhere<D extends ActorDefinitions>(
  registry: Registry<D>,
  options: CrashEverywhereOptions<D>,
): Promise<CrashEverywhereReport> {
  const workload = readWorkload(options);
  const undisturbed = await runOnce(registry, workload);
  if (undisturbed.thrown) throw undisturbed.thrown.error;
  const { commits } = undisturbed;
  const moments = momentsOf(commits);
  const tried = sampled(moments, workload.maxCrashes, workload.seed);
  const progress = progressOf(tried.length);
  let missed = 0;
  try {
    for (const [index, moment] of tried.entries()) {
      progress.step(index);
      const disturbed = await runOnce(registry, workload, moment);
      if (!disturbed.world.hasCome) missed += 1;
      const finding = compare(workload, undisturbed, disturbed, moment);
      if (finding) throw new CrashEverywhereError(finding);
    }
  } finally {
    progress.end();
  }
  return { commits: commits.length, moments: moments.length, tried: tried.length, missed };
}

interface Workload<D extends ActorDefinitions> extends Required<
  Pick<CrashEverywhereOptions<D>, "run" | "compare" | "maxCrashes" | "seed">
> {
  readonly check: ((world: TestWorld<D>) => unknown) | undefined;
  readonly settleMs: number;
  readonly world: TestWorldOptions | undefined;
}

function readWorkload<D extends ActorDefinitions>(given: CrashEverywhereOptions<D>): Workload<D> {
  const fail = (problem: string): TypeError => new TypeError(`crashEverywhere(): ${problem}`);
  const options = readOptions<CrashEverywhereOptions<D>>("crashEverywhere", given, NAMES, fail);
  const { run, check, compare: compares = true, maxCrashes = 300, seed = 1, settle = "1 hour", world } = options;
  if (typeof run !== "function") throw fail("run must be a function of a world");
  if (check !== undefined && typeof check !== "function") throw fail("check must be a function of a world");
  if (typeof compares !== "boolean") throw fail("compare must be true or false");
  if (!Number.isSafeInteger(maxCrashes) || maxCrashes < 1)
    throw fail("maxCrashes must be a whole number of at least 1");
  if (!Number.isSafeInteger(seed)) throw fail("seed must be a whole number");
  const settleMs = readDuration("crashEverywhere(): settle", settle);
  return { run, check, compare: compares, maxCrashes, seed, settleMs, world };
}

interface Ran {
  /** Those before `check`. */
  readonly commits: readonly SeenCommit[];
  readonly world: DisturbedWorld;
  readonly outcome: WorldOutcome;
  readonly thrown: Finding["thrown"];
}

/** One world, from its start to its end. */
async function runOnce<D extends ActorDefinitions>(
  registry: Registry<D>,
  workload: Workload<D>,
  moment?: CrashMoment,
): Promise<Ran> {
  const host = await WorldHost.start(registry as unknown as Registry, workload.world);
  const world = worldOver<D>(host);
  const disturbed = new DisturbedWorld(host, moment);
  let by: "run" | "check" = "run";
  let commits: readonly SeenCommit[] = [];
  let outcome: WorldOutcome | undefined;
  try {
    await workload.run(world);
    await settle(host, world, workload.settleMs);
    outcome = await outcomeOf(host.world);
    commits = [...disturbed.commits];
    by = "check";
    await workload.check?.(world);
    await host.end();
    return { world: disturbed, commits, outcome, thrown: undefined };
  } catch (error) {
    // What `check` has called may have made actors.
    outcome ??= await outcomeOf(host.world);
    return { world: disturbed, commits, outcome, thrown: { by, error } };
  } finally {
    // Its error, if any, was thrown above.
    await host.end().catch(() => {});
  }
}

/** Lets time pass until nothing is to come, or that long. */
async function settle(host: WorldHost, world: Pick<TestWorld, "advance" | "idle">, limitMs: number): Promise<void> {
  const { clock } = host.world;
  const end = clock.now() + limitMs;
  await world.idle();
  for (let events = 0; events < MAX_EVENTS; events += 1) {
    const next = host.world.nextEventAt;
    if (next === undefined || next > end) return;
    await world.advance(Math.max(0, next - clock.now()));
  }
}

function compare<D extends ActorDefinitions>(
  workload: Workload<D>,
  undisturbed: Ran,
  disturbed: Ran,
  moment: CrashMoment,
): Finding | undefined {
  const difference = workload.compare ? differenceOf(undisturbed.outcome, disturbed.outcome) : undefined;
  const { thrown } = disturbed;
  if (!difference && !thrown) return undefined;
  // A step that is not run otherwise is none that ran again.
  const repeated = new Map(
    [...disturbed.world.attempts].filter(([step, times]) => times > (undisturbed.world.attempts.get(step) ?? 1)),
  );
  const callers = difference ? [...(undisturbed.world.callers.get(difference.actor) ?? [])] : [];
  const { divergence, repeatedCalls } = disturbed.world;
  return { moment, repeated, difference, callers, thrown, divergence, isCalledAgain: repeatedCalls > 0 };
}
