import { ManualClock, type WorldActor } from "../../src/testing/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { deployOlderCode, deployWithoutActor, deployWithoutWorkflow, type DeployStage } from "./deploys.js";
import { Disturber, randomDisturbances, type Disturbance } from "./disturbances.js";
import { occasionalCrashes } from "./faults.js";
import { programRegistry, type Watch } from "./interpreter.js";
import { Invariants, read } from "./invariants.js";
import { checkOutcome } from "./outcome.js";
import { randomProgram, type Program } from "./programs.js";
import { together } from "./time.js";

export interface SimulationResult {
  readonly seed: number;
  readonly program: Program;
  readonly commits: number;
  readonly crashes: number;
  /** Disturbances, deliveries of alarms, and turns in which something became durable. */
  readonly events: number;
  /** Lives of the key that ended. */
  readonly deaths: number;
  readonly violations: string[];
  /** Everything that happened, in order: two runs of one seed must agree. */
  readonly trace: string;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** A life that is over is gone by then, without anybody's help. */
const BURIAL_MINUTES = 10;

/** Runs the program of a seed with crashes at commits and in between, and checks the invariants all the time. */
export async function simulate(seed: number): Promise<SimulationResult> {
  const random = seededRandom(seed);
  const program = randomProgram(random);
  const clock = new ManualClock();
  const violations: string[] = [];
  const trace: string[] = [];
  const running = new Map<string, number>();
  /** What the program waits for, as its latest run has said. */
  const waiting = new Map<string, readonly string[]>();
  /** Whose waits those are: a process that died may have waited for what its last turn, which is lost, brought it to. */
  let waitsIn = 0;
  let durablyWaiting: (readonly string[])[] = [];
  const crashRate = [0, 0.03, 0.1, 0.2][seed % 4] ?? 0;
  let events = 0;
  let portCalls = 0;
  let diedAt = 0;
  const fault = occasionalCrashes(random, crashRate);
  const say = (what: string): void => {
    if (violations.length < 20) violations.push(`${clock.now() % 1_000_000_000} ${what}`);
  };
  const invariants = new Invariants(say);
  const watch: Watch = {
    destroyInStep: false,
    violation: say,
    attempt: (path, begins, life) => {
      const key = `${subject.crashes}:${life}:${path}`;
      const now = (running.get(key) ?? 0) + (begins ? 1 : -1);
      running.set(key, now);
      trace.push(`${clock.now()} ${begins ? "begin" : "end"} ${path}`);
      if (now > 1) say(`two attempts of ${path} at a time`);
      if (begins && invariants.dead.has(life)) say(`${path} began in ${life}, which is dead`);
    },
    began: () => {
      waiting.clear();
      waitsIn = subject.crashes;
    },
    waits: (at, queues) => {
      if (queues) waiting.set(at, queues);
      else waiting.delete(at);
    },
    acknowledged: (life, body) => {
      if (!invariants.knows(life, body)) say(`message ${body} was acknowledged, and is not stored`);
    },
    completed: (life, body) => {
      if (invariants.isQueued(life, body)) say(`message ${body} was completed, and is in the queue`);
    },
  };
  const registries = programRegistry(program, clock, watch);
  const world = testWorld(registries.whole, {
    clock,
    fault: (_, commit) => {
      if (!disturber.refuseNext) return fault(commit);
      disturber.refuseNext = false;
      return "refuse";
    },
    deleteFault: () => {
      if (disturber.refusedDeletes > 0) {
        disturber.refusedDeletes -= 1;
        return "refuse";
      }
      return random() < crashRate * 2 ? (random() < 0.5 ? "crash-before" : "crash-after") : undefined;
    },
    portFault: () => {
      portCalls += 1;
      if (crashRate === 0 || portCalls - diedAt < 200 || random() >= crashRate / 40) return false;
      diedAt = portCalls;
      return true;
    },
    onCommit: (_, rows, alarmAt) => {
      trace.push(`${clock.now()} commit ${[...rows.keys()].join(",")} alarm ${alarmAt}`);
      invariants.committed(rows, alarmAt, clock.now(), disturber.alarmIsLost);
    },
    onDurable: (_, rows, alarmAt) => {
      events += 1;
      durablyWaiting = [...waiting.values()];
      invariants.durable(rows, alarmAt, clock.now(), disturber.alarmIsLost);
      if (!disturber.alarmIsLost && works()) invariants.checkWorking(rows, alarmAt, clock.now());
    },
    onLog: (level, entry) => {
      if (String((entry as { code?: string }).code).includes("diverged") && !lacksWorkflow) say(`log: ${JSON.stringify(entry)}`);
      const line = JSON.stringify(entry);
      trace.push(`${clock.now()} ${level} ${String((entry as { msg?: string }).msg ?? entry)}`);
      if (level === "fatal" || (line.includes("internal error") && !isRefusal(line))) say(`log: ${line}`);
    },
  });
  const subject: WorldActor = world.actor("subject", ["k"]);
  const works = (): boolean => [...running].some(([key, count]) => count > 0 && key.startsWith(`${subject.crashes}:`));
  const disturbances = randomDisturbances(random, crashRate);
  const disturber = new Disturber(world, subject, clock, watch, random);
  const stage: DeployStage = { world, subject, disturber, registries, random, say };
  let lacksWorkflow = false;

  const create = async (): Promise<void> => {
    for (let tries = 0; tries < 100 && !subject.store.keys.includes("a"); tries += 1) {
      await together(world, disturber.touch());
      await world.settle();
    }
  };
  const disturb = async (disturbance: Disturbance, index: number): Promise<void> => {
    switch (disturbance.kind) {
      case "no actor":
      case "older code":
        invariants.isServed = false;
        await (disturbance.kind === "no actor" ? deployWithoutActor(stage) : deployOlderCode(stage));
        invariants.isServed = true;
        return;
      case "no workflow":
        lacksWorkflow = true;
        await deployWithoutWorkflow(stage);
        lacksWorkflow = false;
        return;
      case "destroy":
      case "destroy from outside": {
        const ended = disturber.ledger.over.size;
        await together(world, disturber.apply(disturbance, index));
        if (disturber.ledger.over.size > ended && disturbance.amount > 0.4) await checkBlank();
        return;
      }
      default:
        return together(world, disturber.apply(disturbance, index));
    }
  };
  /** A destroyed actor is gone some time later, with nobody's help, and asking for it makes none. */
  const checkBlank = async (): Promise<void> => {
    for (let minutes = 0; minutes < BURIAL_MINUTES; minutes += 1) await world.pass(MINUTE_MS);
    if (disturber.alarmIsLost) await together(world, disturber.look());
    for (let looks = 0; looks < 2; looks += 1) {
      if (subject.store.keys.length > 0 || subject.store.alarmAt !== null) say(`destroyed, and left ${subject.store.keys.join(" ")} with an alarm at ${subject.store.alarmAt}`);
      if (subject.timersHeld > 0) say("destroyed, and holds a timer");
      if ((await together(world, disturber.look())) !== undefined) say("destroyed, and answers");
    }
  };

  await create();
  let at = 0;
  for (const [index, disturbance] of disturbances.entries()) {
    await world.pass(disturbance.atMs - at);
    at = disturbance.atMs;
    events += 1;
    trace.push(`${clock.now()} ${disturbance.kind}`);
    await disturb(disturbance, index);
  }
  watch.destroyInStep = false;
  // A life that is to end later may be the last one that there is.
  for (let lives = 0; lives < 5 && (lives === 0 || !isEnded(subject)); lives += 1) {
    await create();
    for (let round = 0; round < 200 && (!isEnded(subject) || (disturber.alarmIsLost && round < 3)); round += 1) {
      if (random() < crashRate) subject.crash();
      await world.pass(5 * MINUTE_MS);
      // An alarm that the platform has lost comes back when anybody touches the actor; one that it has not needs nobody.
      if (disturber.alarmIsLost) await together(world, disturber.touch());
      else if (subject.store.keys.length === 0) await create();
      else if (subject.alarmComesAt === null || subject.alarmComesAt > clock.now()) invariants.checkWaiting(subject.store.dump(), waitsIn === subject.crashes ? [...waiting.values()] : durablyWaiting);
      if (round > 0 && !isEnded(subject)) await together(world, disturber.fill(["a", "b"][round % 2] ?? "a"));
    }
    await world.passUntilQuiet(HOUR_MS);
  }

  checkOutcome(subject, program, disturber.ledger, say);
  return {
    seed,
    program,
    commits: subject.store.commits,
    crashes: subject.crashes,
    events,
    deaths: invariants.dead.size,
    violations,
    trace: trace.join("\n"),
  };
}

/** A deploy that cannot serve the actor says so; so does code of a process that has died. */
function isRefusal(line: string): boolean {
  return line.includes("in the registry") || line.includes("storage format") || line.includes("CrashError") || line.includes("refuses to delete");
}

/** Alive, and its workflow at its end. */
function isEnded(actor: WorldActor): boolean {
  const record = read(actor.store.dump())?.record;
  return record !== undefined && !record.destroyed && (record.workflow.status === "completed" || record.workflow.status === "failed");
}
