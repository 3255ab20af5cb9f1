/**
 * What steps and actions write to the database and to `c.kv`, under crashes everywhere: it is stored with the rest of
 * its turn, or not at all.
 */
import { DatabaseSync } from "node:sqlite";
import {
  actor,
  db,
  setup,
  workflow,
  type AnyActorDefinition,
  type RawAccess,
  type Registry,
} from "../../src/actor/index.js";
import { ManualClock, type World, type WorldActor } from "../../src/testing/index.js";
import { isTerminal } from "../../src/workflow/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { occasionalCrashes } from "./faults.js";
import { read, type Rows } from "./invariants.js";

export interface WritesResult {
  readonly seed: number;
  /** Rows of SQL and values of `c.kv` that were there in the end. */
  readonly written: number;
  readonly commits: number;
  readonly crashes: number;
  readonly violations: string[];
  /** Everything that happened, in order: two runs of one seed must agree. */
  readonly trace: string;
}

/** Each writes under its own name. */
type Work = {
  readonly kind: "sleep" | "join" | "plain" | "transaction" | "retried" | "failing" | "ephemeral";
  readonly name: string;
  readonly delayMs: number;
};
const KINDS = ["sleep", "join", "plain", "plain", "transaction", "retried", "failing", "ephemeral"] as const;
const OPERATIONS = [
  "both",
  "both",
  "both",
  "throws",
  "batch",
  "clear",
  "transfer",
  "transfer",
  "undone",
  "read",
  "evict",
  "crash",
  "write refused",
  "spurious alarm",
  "alarm late",
  "alarm on time",
  "clock forward",
] as const;
const DEADLY = new Set<string>(["crash", "write refused"]);

interface State {
  readonly steps: Record<string, number>;
  readonly acted: Record<string, number>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- contexts of all kinds share one signature here
type Context = any;

const TABLE = "create table if not exists w (kind text, id text)";
const INSERT = "insert into w values (?, ?)";

export async function simulateWrites(seed: number): Promise<WritesResult> {
  const writes = new Writes(seed);
  await writes.run();
  const { subject, violations, trace, written } = writes;
  return {
    seed,
    written,
    commits: subject.store.commits,
    crashes: subject.crashes,
    violations,
    trace: trace.join("\n"),
  };
}

class Writes {
  readonly violations: string[] = [];
  readonly trace: string[] = [];
  readonly subject: WorldActor;
  written = 0;
  readonly #random: () => number;
  readonly #crashRate: number;
  readonly #clock = new ManualClock();
  readonly #world: World;
  readonly #works: readonly Work[];
  /** By the kind and id of what clients asked for: whether they were told that it is done. */
  readonly #asked = new Map<string, boolean>();
  #database: DatabaseSync | undefined;
  #isCalm = false;
  #refuseNext = false;
  #inFlight = 0;
  #portCalls = 0;
  #diedAt = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#crashRate = [0, 0.03, 0.1, 0.2][seed % 4] ?? 0;
    this.#works = Array.from({ length: 3 + this.#below(8) }, (_, index) => ({
      kind: this.#pick(KINDS),
      name: `w${index}`,
      delayMs: this.#pick([0, 0, 0, 3, 40]),
    }));
    const fault = occasionalCrashes(this.#random, this.#crashRate);
    this.#world = testWorld(this.#registry(), {
      clock: this.#clock,
      openDatabase: () => (this.#database = new DatabaseSync(":memory:")),
      fault: (_, commit) => {
        if (this.#isCalm) return undefined;
        if (!this.#refuseNext) return fault(commit);
        this.#refuseNext = false;
        return "refuse";
      },
      portFault: () => {
        this.#portCalls += 1;
        if (
          this.#isCalm ||
          this.#crashRate === 0 ||
          this.#portCalls - this.#diedAt < 100 ||
          this.#random() >= this.#crashRate / 30
        )
          return false;
        this.#diedAt = this.#portCalls;
        return true;
      },
      onDurable: (_, rows) => {
        this.#note(`durable ${[...rows.keys()].join(",")}`);
        this.#checkRows(rows);
      },
      onLog: (level, entry) => {
        if (level === "fatal") this.#say(`log: ${JSON.stringify(entry)}`);
      },
    });
    this.subject = this.#world.actor("subject", ["k"]);
  }

  async run(): Promise<void> {
    for (let tries = 0; tries < 100 && !this.subject.store.keys.includes("a"); tries += 1)
      await this.#together(this.#call("read"));
    const flights: Promise<unknown>[] = [];
    for (let index = 0; index < 8 + this.#below(24); index += 1) {
      const operation = this.#pick(OPERATIONS);
      if (this.#crashRate === 0 && DEADLY.has(operation)) continue;
      this.#note(operation);
      flights.push(this.#apply(operation, `${operation}-${index}`));
      await this.#world.pass(this.#below(this.#pick([2, 20, 200])));
    }
    this.subject.alarmDelayMs = 0;
    await this.#world.pass(600_000);
    this.#isCalm = true;
    await this.#world.pass(600_000);
    await Promise.race([Promise.all(flights), this.#world.turn()]);
    this.#checkEnd(
      (await this.#together(this.subject.call("all"))) as { status: string; state: State; rows: number; keys: number },
    );
  }

  // ---- the actor ---------------------------------------------------------------------------------------------------

  /** All of it in one turn: that in which its first statement runs, for which a transaction of somebody else's may have to end. */
  async #write(c: Context, kind: "step" | "acted", id: string): Promise<void> {
    const { steps, acted } = c.state as State;
    const counts = kind === "step" ? steps : acted;
    await (c.db as RawAccess).execute(INSERT, kind, id);
    counts[id] = (counts[id] ?? 0) + 1;
    const stored = kind === "acted" ? c.kv.put(`acted/${id}`, id) : undefined;
    await Promise.all([stored, (c.db as RawAccess).execute("update w set id = id where id = ?", id)]);
  }

  async #step(step: Context, { kind, name, delayMs }: Work): Promise<void> {
    if (kind === "transaction") {
      await step.db.transaction(async (tx: RawAccess) => {
        await tx.execute(INSERT, "pair", name);
        await this.#world.turn();
        await tx.execute(INSERT, "pair", name);
      });
    }
    if (delayMs > 0) await this.#clock.delay(delayMs);
    if (kind === "retried" && step.attempt < 3) throw new Error("not yet");
    await this.#write(step, "step", name);
    if (kind === "failing") throw new Error("after it has written");
  }

  async #work(ctx: Context, work: Work): Promise<void> {
    const { kind, name } = work;
    switch (kind) {
      case "sleep":
        return ctx.sleep(name, 100);
      case "join": {
        const branch = (id: string, does: Work["kind"]): object => ({
          run: (each: Context) =>
            each.step("s", (step: Context) => this.#step(step, { ...work, kind: does, name: `${name}/${id}/s` })),
        });
        return ctx.join(name, {
          a: branch("a", "transaction"),
          b: branch("b", "plain"),
          c: branch("c", "transaction"),
        });
      }
      case "failing":
        await ctx.step({ name, maxRetries: 0, run: (step: Context) => this.#step(step, work) }).catch(() => {});
        return;
      default:
        return ctx.step({
          name,
          ephemeral: kind === "ephemeral",
          maxRetries: 20,
          retryBackoffBase: 10,
          run: (step: Context) => this.#step(step, work),
        });
    }
  }

  #registry(): Registry {
    const keysOf = (id: string): string[] => [1, 2, 3].map((n) => `batch/${id}/${n}`);
    const pair = async (c: Context, id: string, fails: boolean): Promise<void> =>
      c.db.transaction(async (tx: RawAccess) => {
        await tx.execute(INSERT, "pair", id);
        await this.#world.turn();
        await tx.execute(INSERT, "pair", id);
        if (fails) throw new Error("undone");
      });
    const both = async (c: Context, id: string, delayMs: number): Promise<void> => {
      await this.#clock.delay(delayMs);
      await this.#write(c, "acted", id);
    };
    const definition = actor({
      state: { steps: {}, acted: {} } as State,
      db: db({ onMigrate: (client) => client.execute(TABLE).then(() => {}) }),
      run: workflow(async (ctx: Context) => {
        for (const work of this.#works) await this.#work(ctx, work);
      }),
      actions: {
        read: () => {},
        both,
        throws: async (c: Context, id: string, delayMs: number) => {
          await both(c, id, delayMs);
          throw new Error("after it has written");
        },
        batch: (c: Context, id: string) => c.kv.batchPut(keysOf(id).map((key) => [key, "x"])),
        clear: async (c: Context, id: string) => {
          await c.kv.batchPut(keysOf(id).map((key) => [key, "x"]));
          await c.kv.deleteRange(`batch/${id}/`, `batch/${id}0`);
        },
        transfer: (c: Context, id: string) => pair(c, id, false),
        undone: (c: Context, id: string) => pair(c, id, true),
        all: async (c: Context) => ({
          status: c.workflow.status().status,
          state: c.state,
          rows: ((await c.db.execute("select count(*) as n from w")) as { n: number }[])[0]?.n ?? 0,
          keys: (await c.kv.list()).length,
        }),
      },
    } as never) as AnyActorDefinition;
    return setup({ use: { subject: definition } }) as unknown as Registry;
  }

  // ---- what happens to it ------------------------------------------------------------------------------------------

  async #apply(operation: (typeof OPERATIONS)[number], id: string): Promise<unknown> {
    switch (operation) {
      case "read":
        return this.#call("read");
      case "both":
      case "throws":
      case "batch":
      case "clear":
      case "transfer":
      case "undone": {
        this.#asked.set(id, false);
        this.#asked.set(id, await this.#call(operation, id, this.#below(30)));
        return;
      }
      case "evict":
        // The platform throws no object out that is at work.
        if (this.#inFlight > 0 || this.subject.store.transactionsEnd() || this.subject.holdsLease) return;
        return this.subject.evict();
      case "spurious alarm":
        return this.subject.fireAlarm();
      case "alarm late":
        this.subject.alarmDelayMs = this.#below(5_000);
        return;
      case "alarm on time":
        this.subject.alarmDelayMs = 0;
        return;
      case "clock forward":
        return this.#clock.moveTo(this.#clock.now() + this.#below(1_000));
      case "write refused":
        this.#refuseNext = true;
        return;
      case "crash":
        return this.subject.crash();
    }
  }

  /** True if it answered without an error. */
  async #call(action: string, ...args: unknown[]): Promise<boolean> {
    const call = this.subject.call(action, ...args).then(
      () => true,
      () => false,
    );
    this.#inFlight += 1;
    const answer = await Promise.race([call, this.subject.died().then(() => false)]);
    this.#inFlight -= 1;
    return answer;
  }

  /** Waits for something that may need the clock to move. */
  async #together<T>(something: Promise<T>): Promise<T> {
    let done = false;
    void something.finally(() => (done = true)).catch(() => {});
    for (let rounds = 0; rounds < 1_000 && !done; rounds += 1) await this.#world.pass(1);
    return something;
  }

  // ---- what must hold ----------------------------------------------------------------------------------------------

  #checkRows(rows: Rows): void {
    // Its rows show, before it is decided whether they stay.
    if (this.subject.store.transactionsEnd()) return;
    const stored = read(rows);
    const sql = this.#counts();
    if (!stored) return;
    const { steps, acted } = stored.state as unknown as State;
    const count = (kind: string, id: string): number => sql.get(`${kind} ${id}`) ?? 0;
    const ids = (kind: string, known: object): Set<string> =>
      new Set([
        ...Object.keys(known),
        ...[...sql.keys()].filter((key) => key.startsWith(`${kind} `)).map((key) => key.slice(kind.length + 1)),
      ]);
    const completed = new Set(
      stored.entries
        .filter((entry) => entry.kind === "step" && isTerminal(entry))
        .map((entry) => entry.location.join("/")),
    );
    for (const id of ids("step", steps)) {
      this.#check(
        count("step", id) === (steps[id] ?? 0),
        `step ${id}: ${count("step", id)} rows, ${steps[id]} in the state`,
      );
      this.#check(
        completed.has(id) === (steps[id] === 1),
        `step ${id}: ${completed.has(id) ? "ended" : "not ended"}, ${steps[id]} in the state`,
      );
    }
    for (const id of completed) this.#check(steps[id] === 1, `step ${id} has ended, ${steps[id]} in the state`);
    const values = new Set(
      [...rows.keys()].filter((key) => key.startsWith("u/")).map((key) => Buffer.from(key.slice(2), "hex").toString()),
    );
    for (const id of ids("acted", acted)) {
      this.#check(
        count("acted", id) === 1 && acted[id] === 1 && values.has(`acted/${id}`),
        `${id}: ${count("acted", id)} rows, ${acted[id]} in the state, value ${values.has(`acted/${id}`)}`,
      );
    }
    for (const value of values)
      if (value.startsWith("acted/"))
        this.#check(acted[value.slice(6)] === 1, `${value} is there, and nothing in the state`);
    for (const [id] of this.#asked) {
      const batch = [1, 2, 3].filter((n) => values.has(`batch/${id}/${n}`)).length;
      this.#check(batch === 0 || batch === 3, `${batch} values of ${id}`);
      this.#check(!id.startsWith("undone") || count("pair", id) === 0, `${id} is there`);
    }
    for (const [key, n] of sql) if (key.startsWith("pair ")) this.#check(n % 2 === 0, `${n} rows of ${key}`);
  }

  #checkEnd({ status, state, rows, keys }: { status: string; state: State; rows: number; keys: number }): void {
    this.written = rows + keys;
    this.#check(status === "completed", `the workflow is ${status}`);
    const sql = this.#counts();
    const names = this.#works.flatMap(({ kind, name }) =>
      kind === "sleep" ? [] : kind === "join" ? ["a", "b", "c"].map((id) => `${name}/${id}/s`) : [name],
    );
    for (const name of names)
      this.#check(
        state.steps[name] === 1 && sql.get(`step ${name}`) === 1,
        `step ${name}: ${state.steps[name]} in the state, ${sql.get(`step ${name}`)} rows`,
      );
    for (const [id, acknowledged] of this.#asked) {
      if (!acknowledged) continue;
      if (id.startsWith("both")) this.#check(state.acted[id] === 1, `${id} was acknowledged, and is not there`);
      if (id.startsWith("transfer"))
        this.#check(sql.get(`pair ${id}`) === 2, `${id} was acknowledged, with ${sql.get(`pair ${id}`)} rows`);
    }
    this.#check(this.subject.timersHeld === 0, "a timer is left");
    this.#check(this.subject.store.alarmAt === null, `an alarm is left at ${this.subject.store.alarmAt}`);
  }

  /** Rows of the user's table, by kind and id. */
  #counts(): Map<string, number> {
    try {
      const found = (this.#database?.prepare("select kind, id, count(*) as n from w group by kind, id").all() ??
        []) as { kind: string; id: string; n: number }[];
      return new Map(found.map(({ kind, id, n }) => [`${kind} ${id}`, n]));
    } catch {
      // No table yet: the creation has not ended.
      return new Map();
    }
  }

  // ---- small things ------------------------------------------------------------------------------------------------

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#below(from.length)] as T;
  }

  #note(what: string): void {
    this.trace.push(`${this.#clock.now()} ${what}`);
  }

  #check(holds: boolean, otherwise: string): void {
    if (!holds) this.#say(otherwise);
  }

  #say(what: string): void {
    this.#note(`VIOLATION ${what}`);
    if (this.violations.length < 20) this.violations.push(what);
  }
}
