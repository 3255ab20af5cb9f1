import {
  ManualClock,
  type CommitFault,
  type World,
  type WorldActor,
  type WorldOptions,
} from "../../src/testing/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import {
  deployOlderCode,
  deployWithoutActor,
  deployWithoutWorkflow,
  type Deploys,
  type DeployStage,
} from "./deploys.js";
import { Disturber, randomDisturbances, type Disturbance } from "./disturbances.js";
import { occasionalCrashes } from "./faults.js";
import { Invariants, read } from "./invariants.js";
import { checkOutcome } from "./outcome.js";
import { programRegistry } from "./program-actor.js";
import { ProgramWatch } from "./program-watch.js";
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

/** Sees the rows of a program's actor whenever they have become durable, `now` in epoch ms. */
export type Onlooker = (rows: ReadonlyMap<string, Uint8Array>, now: number, program: Program) => void;

/** Runs the program of a seed with crashes at commits and in between, and checks the invariants all the time. */
export async function simulate(seed: number, onlooker?: Onlooker): Promise<SimulationResult> {
  return new Simulation(seed, onlooker).run();
}

class Simulation {
  readonly #seed: number;
  readonly #onlooker: Onlooker | undefined;
  readonly #random: () => number;
  readonly #crashRate: number;
  readonly #program: Program;
  readonly #clock = new ManualClock();
  readonly #violations: string[] = [];
  readonly #trace: string[] = [];
  readonly #invariants: Invariants;
  readonly #watch: ProgramWatch;
  readonly #registries: Deploys;
  readonly #world: World;
  readonly #subject: WorldActor;
  readonly #disturbances: readonly Disturbance[];
  readonly #disturber: Disturber;
  #lacksWorkflow = false;
  #events = 0;
  #portCalls = 0;
  #diedAt = 0;

  constructor(seed: number, onlooker: Onlooker | undefined) {
    this.#seed = seed;
    this.#onlooker = onlooker;
    this.#random = seededRandom(seed);
    this.#program = randomProgram(this.#random);
    this.#crashRate = [0, 0.03, 0.1, 0.2][seed % 4] ?? 0;
    const [note, say] = [this.#note.bind(this), this.#say.bind(this)];
    this.#invariants = new Invariants(say);
    this.#watch = new ProgramWatch({ invariants: this.#invariants, process: () => this.#subject.crashes, note, say });
    this.#registries = programRegistry(this.#program, this.#clock, this.#watch);
    this.#world = testWorld(
      this.#registries.whole,
      this.#worldOptions(occasionalCrashes(this.#random, this.#crashRate)),
    );
    this.#subject = this.#world.actor("subject", ["k"]);
    this.#disturbances = randomDisturbances(this.#random, this.#crashRate);
    this.#disturber = new Disturber(this.#world, this.#subject, this.#clock, this.#watch, this.#random);
  }

  async run(): Promise<SimulationResult> {
    await this.#create();
    await this.#disturbAll();
    await this.#bringToItsEnd();
    checkOutcome(this.#subject, this.#program, this.#disturber.ledger, this.#say.bind(this));
    return {
      seed: this.#seed,
      program: this.#program,
      commits: this.#subject.store.commits,
      crashes: this.#subject.crashes,
      events: this.#events,
      deaths: this.#invariants.dead.size,
      violations: this.#violations,
      trace: this.#trace.join("\n"),
    };
  }

  // ---- the world ---------------------------------------------------------------------------------------------------

  #worldOptions(fault: CommitFault): Partial<WorldOptions> {
    return {
      clock: this.#clock,
      // As often as each crash rate: in a third of the programs no activation outlives a park.
      evictAtPark: Math.floor(this.#seed / 4) % 3 === 0,
      fault: (_, commit) => {
        if (!this.#disturber.refuseNext) return fault(commit);
        this.#disturber.refuseNext = false;
        return "refuse";
      },
      deleteFault: () => this.#deleteFault(),
      portFault: () => this.#diesInPort(),
      onCommit: (_, rows, alarmAt) => {
        this.#note(`commit ${[...rows.keys()].join(",")} alarm ${alarmAt}`);
        this.#invariants.committed(rows, alarmAt, this.#clock.now(), this.#disturber.alarmIsLost);
      },
      onDurable: (_, rows, alarmAt) => {
        this.#events += 1;
        this.#watch.durable();
        this.#onlooker?.(rows, this.#clock.now(), this.#program);
        this.#invariants.durable(rows, alarmAt, this.#clock.now(), this.#disturber.alarmIsLost);
        if (!this.#disturber.alarmIsLost && this.#watch.works)
          this.#invariants.checkWorking(rows, alarmAt, this.#clock.now());
      },
      onLog: (level, entry) => this.#logged(level, entry),
    };
  }

  #deleteFault(): ReturnType<NonNullable<WorldOptions["deleteFault"]>> {
    if (this.#disturber.refusedDeletes > 0) {
      this.#disturber.refusedDeletes -= 1;
      return "refuse";
    }
    return this.#random() < this.#crashRate * 2 ? (this.#random() < 0.5 ? "crash-before" : "crash-after") : undefined;
  }

  #diesInPort(): boolean {
    this.#portCalls += 1;
    if (this.#crashRate === 0 || this.#portCalls - this.#diedAt < 200 || this.#random() >= this.#crashRate / 40)
      return false;
    this.#diedAt = this.#portCalls;
    return true;
  }

  #logged(level: string, entry: unknown): void {
    const line = JSON.stringify(entry);
    if (String((entry as { code?: string }).code).includes("diverged") && !this.#lacksWorkflow)
      this.#say(`log: ${line}`);
    this.#note(`${level} ${String((entry as { msg?: string }).msg ?? entry)}`);
    if (level === "fatal" || (line.includes("internal error") && !isRefusal(line))) this.#say(`log: ${line}`);
  }

  // ---- what happens ------------------------------------------------------------------------------------------------

  async #create(): Promise<void> {
    for (let tries = 0; tries < 100 && !this.#subject.store.keys.includes("a"); tries += 1) {
      await together(this.#world, this.#disturber.touch());
      await this.#world.settle();
    }
  }

  async #disturbAll(): Promise<void> {
    let at = 0;
    for (const [index, disturbance] of this.#disturbances.entries()) {
      await this.#world.pass(disturbance.atMs - at);
      at = disturbance.atMs;
      this.#events += 1;
      this.#note(disturbance.kind);
      await this.#disturb(disturbance, index);
    }
    this.#watch.destroyInStep = false;
  }

  async #disturb(disturbance: Disturbance, index: number): Promise<void> {
    switch (disturbance.kind) {
      case "no actor":
      case "older code":
        this.#invariants.isServed = false;
        await (disturbance.kind === "no actor" ? deployWithoutActor(this.#stage()) : deployOlderCode(this.#stage()));
        this.#invariants.isServed = true;
        return;
      case "no workflow":
        this.#lacksWorkflow = true;
        await deployWithoutWorkflow(this.#stage());
        this.#lacksWorkflow = false;
        return;
      case "destroy":
      case "destroy from outside": {
        const ended = this.#disturber.ledger.over.size;
        await together(this.#world, this.#disturber.apply(disturbance, index));
        if (this.#disturber.ledger.over.size > ended && disturbance.amount > 0.4) await this.#checkBlank();
        return;
      }
      default:
        return together(this.#world, this.#disturber.apply(disturbance, index));
    }
  }

  #stage(): DeployStage {
    return {
      world: this.#world,
      subject: this.#subject,
      disturber: this.#disturber,
      registries: this.#registries,
      random: this.#random,
      say: this.#say.bind(this),
    };
  }

  /** A destroyed actor is gone some time later, with nobody's help, and asking for it makes none. */
  async #checkBlank(): Promise<void> {
    const { store } = this.#subject;
    for (let minutes = 0; minutes < BURIAL_MINUTES; minutes += 1) await this.#world.pass(MINUTE_MS);
    if (this.#disturber.alarmIsLost) await together(this.#world, this.#disturber.look());
    for (let looks = 0; looks < 2; looks += 1) {
      if (store.keys.length > 0 || store.alarmAt !== null)
        this.#say(`destroyed, and left ${store.keys.join(" ")} with an alarm at ${store.alarmAt}`);
      if (this.#subject.timersHeld > 0) this.#say("destroyed, and holds a timer");
      if ((await together(this.#world, this.#disturber.look())) !== undefined) this.#say("destroyed, and answers");
    }
  }

  /** Nothing disturbs any more but crashes. A life that is to end later may be the last one that there is. */
  async #bringToItsEnd(): Promise<void> {
    const subject = this.#subject;
    for (let lives = 0; lives < 5 && (lives === 0 || !isEnded(subject)); lives += 1) {
      await this.#create();
      for (let round = 0; round < 200 && (!isEnded(subject) || (this.#disturber.alarmIsLost && round < 3)); round += 1)
        await this.#round(round);
      await this.#world.passUntilQuiet(HOUR_MS);
    }
  }

  async #round(round: number): Promise<void> {
    const [subject, disturber] = [this.#subject, this.#disturber];
    if (this.#random() < this.#crashRate) subject.crash();
    await this.#world.pass(5 * MINUTE_MS);
    // An alarm that the platform has lost comes back when anybody touches the actor; one that it has not needs nobody.
    if (disturber.alarmIsLost) await together(this.#world, disturber.touch());
    else if (subject.store.keys.length === 0) await this.#create();
    else if (Math.min(subject.store.alarmAt ?? Infinity, subject.alarmComesAt ?? Infinity) > this.#clock.now())
      this.#invariants.checkWaiting(subject.store.dump(), this.#watch.openWaits);
    if (round > 0 && !isEnded(subject)) await together(this.#world, disturber.fill(["a", "b"][round % 2] ?? "a"));
  }

  #note(what: string): void {
    this.#trace.push(`${this.#clock.now()} ${what}`);
  }

  #say(what: string): void {
    if (this.#violations.length < 20) this.#violations.push(`${this.#clock.now() % 1_000_000_000} ${what}`);
  }
}

/** A deploy that cannot serve the actor says so; so does code of a process that has died. */
function isRefusal(line: string): boolean {
  return (
    line.includes("in the registry") ||
    line.includes("storage format") ||
    line.includes("CrashError") ||
    line.includes("refuses to delete")
  );
}

/** Alive, and its workflow at its end. */
function isEnded(actor: WorldActor): boolean {
  const record = read(actor.store.dump())?.record;
  return (
    record !== undefined &&
    !record.destroyed &&
    (record.workflow.status === "completed" || record.workflow.status === "failed")
  );
}
