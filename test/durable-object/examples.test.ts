import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decodeValue, type CallEnvelope } from "../../src/protocol/index.js";
import { answerOf, EXAMPLE_RUNS, isLike, type ExampleRun } from "../support/example-runs.js";
import { KILLED } from "../support/kill.js";
import { liveObjects, probes, serve } from "../support/worker.js";
import { clock, TestObject } from "./test-object.js";

// Each example on the real runtime, its object evicted whenever it sleeps, killed at every commit, and the actors that it
// calls killed as they are called; from then on it sees nothing but alarms.

const MAX_WAKES = 60;
/** Polls of `rest` before it gives up. */
const MAX_POLLS = 4_000;

interface Disturbance {
  /** Evicts the object whenever it has parked. */
  readonly evicts?: boolean;
  /** Kills it in the turn of this commit, which is lost, or when this commit is durable. */
  readonly dies?: { readonly at: number; readonly when: "in" | "behind" };
  /** Kills the called actor at this call, before it has done anything. */
  readonly calleeDiesAt?: number;
}

/** The run that is underway. */
let current: ExampleTrial;
let trials = 0;

function begin(example: ExampleRun, disturbance: Disturbance = {}): ExampleTrial {
  current = new ExampleTrial(example, disturbance);
  return current;
}

/** One run of an example, from an empty object to the state that it must come to. */
class ExampleTrial {
  readonly object: TestObject;
  readonly effects: Record<string, number> = {};
  deaths = 0;
  evictions = 0;
  readonly #example: ExampleRun;
  readonly #disturbance: Disturbance;
  readonly #key: string;
  /** Until all messages are accepted nobody answers the example, and nothing dies. */
  #isAccepted = false;
  #isOver = false;
  #commits = 0;
  #calls = 0;
  /** Effects that wait to be accepted. */
  #waiting = 0;
  /** Effects that are never answered, and for which no alarm has come yet. */
  #hanging = 0;
  #isDying = false;
  #isDead = false;

  constructor(example: ExampleRun, disturbance: Disturbance) {
    this.#example = example;
    this.#disturbance = disturbance;
    this.#key = `run-${(trials += 1)}`;
    this.object = new TestObject(example.actor, this.#key);
  }

  /** Whether it came to the state, and all rows but the history. */
  async run(): Promise<{ state: unknown; keys: string[] }> {
    const { object } = this;
    await object.call("getState");
    for (const [queue, body] of this.#example.sends ?? []) await object.enqueue(queue, body(clock.now()));
    await this.#rest();
    this.#isAccepted = true;
    for (let wakes = 0; ; wakes += 1) {
      const isParked = await this.#rest();
      const state = await this.#state();
      if (isParked && isLike(state, this.#example.state)) {
        const keys = (await object.keys()).filter((key) => !key.startsWith("e/"));
        await this.#end();
        return { state, keys };
      }
      const at = await object.alarmAt();
      if (at === null || wakes === MAX_WAKES)
        throw new Error(`${this.#example.name} stands still with ${JSON.stringify(state)}`);
      if (isParked && this.#disturbance.evicts) {
        await object.evict();
        this.evictions += 1;
      }
      this.#hanging = 0;
      clock.moveTo(at);
      // It rejects when the object dies in it.
      await object.alarm().catch(() => {});
    }
  }

  committed(id: string): void {
    const { dies } = this.#disturbance;
    if (!this.#isAccepted || !dies || id !== this.object.id.toString()) return;
    this.#commits += 1;
    if (this.#commits !== dies.at) return;
    const { ctx } = liveObjects.get(id) ?? {};
    this.#isDying = true;
    if (dies.when === "in") this.#die(ctx);
    else void ctx?.storage.sync().then(() => this.#die(ctx));
  }

  /** A call has come to another actor. */
  async called(id: string, { address, operation }: CallEnvelope): Promise<void> {
    const key = address.key.map((part) => (part === this.#key ? "k" : part)).join("/");
    await this.#effect(`${address.name} ${key} ${operation.kind === "action" ? operation.name : operation.kind}`);
    this.#calls += 1;
    if (this.#calls === this.#disturbance.calleeDiesAt) {
      this.deaths += 1;
      liveObjects.get(id)?.ctx.abort(KILLED);
    }
    // Slower than the timer that it races against.
    if (address.name === "primaryServiceActor") await this.#hang();
  }

  /** A request has come to api.example.com. */
  async requested(path: string, { method = "GET", body, signal }: RequestInit): Promise<Response> {
    await this.#effect(`${method} ${path}`);
    const answer = answerOf(path, body);
    if (answer) return Response.json(answer.body, { status: answer.status });
    await this.#hang(signal ?? undefined);
    throw signal?.reason ?? new Error("the run is over");
  }

  async #effect(name: string): Promise<void> {
    this.effects[name] = (this.effects[name] ?? 0) + 1;
    this.#waiting += 1;
    // Polls: a promise may not be settled from another object or from the test.
    while (!this.#isAccepted) await scheduler.wait(1);
    this.#waiting -= 1;
  }

  async #hang(signal?: AbortSignal): Promise<void> {
    this.#hanging += 1;
    while (!this.#isOver && !signal?.aborted) await scheduler.wait(1);
  }

  /** The clock goes on for all objects: a later run must not wake this one. */
  async #end(): Promise<void> {
    this.#isOver = true;
    await this.object.inside((ctx) => ctx.abort(KILLED)).catch(() => {});
  }

  #die(ctx: DurableObjectState | undefined): void {
    this.deaths += 1;
    this.#isDying = false;
    this.#isDead = true;
    this.#hanging = 0;
    ctx?.abort(KILLED);
  }

  /** Waits until nothing moves without an alarm, polling since its work belongs to no event. True: it is parked. */
  async #rest(): Promise<boolean> {
    for (let polls = 0; polls < MAX_POLLS; polls += 1) {
      // It rejects when the object dies in it.
      const isParked = await this.object
        .holdsLease()
        .then((holds) => !holds)
        .catch(() => false);
      const isDead = this.#isDead;
      this.#isDead = false;
      if (isParked && !this.#isDying) return true;
      // What was read may be of the life before.
      if (isDead) return this.object.holdsLease().then((holds) => !holds);
      if (this.#hanging > 0 || (this.#waiting > 0 && !this.#isAccepted)) return false;
      await scheduler.wait(1);
    }
    throw new Error(`${this.#example.name} does not come to rest`);
  }

  /** As it is stored: an action would wake the object. */
  #state(): Promise<unknown> {
    return this.object.inside((ctx) => decodeValue(ctx.storage.kv.get<Uint8Array>("s") ?? new Uint8Array()));
  }
}

const platformFetch = globalThis.fetch;

beforeEach(() => {
  globalThis.fetch = ((url: string, init: RequestInit = {}) =>
    current.requested(url.replace("https://api.example.com/", ""), init)) as typeof fetch;
  probes.committed = (id) => current.committed(id);
  probes.called = (id, envelope) =>
    envelope.address.name === current.object.name ? undefined : current.called(id, envelope);
});
afterEach(() => {
  globalThis.fetch = platformFetch;
  probes.committed = probes.called = undefined;
});

/** What an example comes to when nothing happens to it. */
async function undisturbed(example: ExampleRun): Promise<object> {
  const trial = begin(example);
  const end = await trial.run();
  expect(end.state).toMatchObject(example.state);
  expect(trial.effects).toEqual(example.effects);
  return end;
}

/** It comes to the same, and does nothing to others more than once more than it should. Gives the number of deaths. */
async function comesTo(end: object, example: ExampleRun, disturbance: Disturbance): Promise<number> {
  const what = JSON.stringify(disturbance);
  const trial = begin(example, disturbance);
  expect(withoutAttempts(await trial.run()), what).toEqual(withoutAttempts(end));
  expect(Object.keys(trial.effects).sort(), what).toEqual(Object.keys(example.effects).sort());
  for (const [effect, count] of Object.entries(example.effects)) {
    expect(trial.effects[effect], `${effect}, ${what}`).toBeGreaterThanOrEqual(count);
    expect(trial.effects[effect], `${effect}, ${what}`).toBeLessThanOrEqual(count + trial.deaths);
  }
  return trial.deaths;
}

/** Tries each point of death in turn, until an example ends before it. Gives their number. */
async function dieEverywhere(example: ExampleRun, at: (point: number) => Disturbance): Promise<number> {
  serve(example.registry);
  const end = await undisturbed(example);
  let point = 1;
  while ((await comesTo(end, example, at(point))) === 1) point += 1;
  return point - 1;
}

const callsOf = ({ effects }: ExampleRun): number =>
  Object.entries(effects).reduce((sum, [effect, count]) => (/Actor /.test(effect) ? sum + count : sum), 0);

describe("comes to the same, and does the same to others, evicted whenever it sleeps", () => {
  it.each(EXAMPLE_RUNS)("$name", async (example) => {
    serve(example.registry);
    const end = await undisturbed(example);
    const trial = begin(example, { evicts: true });
    expect(await trial.run()).toEqual(end);
    expect(trial.effects).toEqual(example.effects);
  });
});

describe("comes to the same, killed in the turn of any one commit", () => {
  it.each(EXAMPLE_RUNS)(
    "$name",
    async (example) => {
      expect(await dieEverywhere(example, (at) => ({ dies: { at, when: "in" } }))).toBeGreaterThan(1);
    },
    60_000,
  );
});

describe("comes to the same, killed right behind any one commit", () => {
  it.each(EXAMPLE_RUNS)(
    "$name",
    async (example) => {
      expect(await dieEverywhere(example, (at) => ({ dies: { at, when: "behind" } }))).toBeGreaterThan(1);
    },
    60_000,
  );
});

describe("comes to the same, whichever call kills the called actor", () => {
  it.each(EXAMPLE_RUNS.filter((example) => callsOf(example) > 0))(
    "$name",
    async (example) => {
      expect(await dieEverywhere(example, (calleeDiesAt) => ({ calleeDiesAt }))).toBe(callsOf(example));
    },
    60_000,
  );
});

/** The example of timeouts keeps a list of all attempts that began. */
function withoutAttempts(end: object): unknown {
  return JSON.parse(
    JSON.stringify(end, (name, value: unknown) => (name === "attempts" && Array.isArray(value) ? undefined : value)),
  );
}
