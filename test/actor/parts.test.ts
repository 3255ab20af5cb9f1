import { describe, expect, it } from "vitest";
import {
  actor,
  KEYS,
  setup,
  workflow,
  type AnyActorDefinition,
  type DatabaseProvider,
  type Registry,
} from "../../src/actor/index.js";
import { carryPart, type ActivePart, type Part, type PartActor } from "../../src/actor/internal.js";
import { decodeValue, encodeValue } from "../../src/protocol/index.js";
import type { World, WorldActor, WorldOptions } from "../../src/testing/index.js";
import { testWorld } from "../support/test-world.js";

// A part that uses all of the interface, where workflow and database do not: it notes texts, in rows of its own.

const MINUTE_MS = 60_000;

interface Notes {
  add(text: string): void;
  list(): string[];
  /** Adds a text later: by a row of the table `d/`, or by one of the part's own. */
  remind(text: string, afterMs: number): void;
  plan(text: string, afterMs: number): void;
  /** Works until the promise settles, and then adds what that gives. */
  work(promise: Promise<string>): void;
}

/** What one world's parts have done, in order. */
type Told = string[];

class NotesOfActor implements ActivePart {
  readonly #actor: PartActor;
  readonly #told: Told;
  readonly #planned = new Map<string, { readonly text: string; readonly at: number }>();
  readonly members = { notes: () => this.#notes(() => {}) };
  readonly stepMembers = { notes: ({ guard }: { guard(): void }) => this.#notes(guard) };
  readonly messages = {
    take: () => false,
    expect: () => this.#actor.holdLease(),
    offer: () => {
      this.#actor.advanceSoon();
      return true;
    },
    taken: () => [],
  };
  readonly start = {
    hasMigration: true,
    open: () => undefined,
    migrate: async () => void this.#told.push("migrate"),
    together: <T>(name: string, _timeoutMs: number, work: () => Promise<T>) => {
      this.#told.push(`together ${name}`);
      return work();
    },
  };
  readonly highestSeq: number;
  writes = 0;
  #working = 0;
  #commits: number;

  constructor(actor: PartActor, told: Told) {
    this.#actor = actor;
    this.#told = told;
    const seqs = [...actor.storedRows(KEYS.part("notes", "t/"))].map(([key]) =>
      Number(key.slice(key.lastIndexOf("/") + 1)),
    );
    this.highestSeq = Math.max(0, ...seqs);
    for (const [key, bytes] of actor.storedRows(KEYS.part("notes", "p/")))
      this.#planned.set(key, decodeValue(bytes) as never);
    const commits = actor.read(KEYS.part("notes", "commits"));
    this.#commits = commits ? (decodeValue(commits) as number) : 0;
  }

  get isBusy(): boolean {
    return this.#working > 0;
  }

  wakeAt(): number | undefined {
    return this.#planned.size === 0 ? undefined : Math.min(...[...this.#planned.values()].map(({ at }) => at));
  }

  load(): void {
    this.#told.push("load");
  }

  begin(careful: boolean): void {
    this.#told.push(careful ? "begin carefully" : "begin");
  }

  fireDue(): void {
    const row = this.#actor.deadlines.parts.get("notes");
    if (!row || row.at > this.#actor.ports.now()) return;
    this.#actor.deadlines.parts.delete("notes");
    this.#add(String(row["text"]));
  }

  async advance(): Promise<void> {
    for (const [key, { text, at }] of this.#planned) {
      if (at > this.#actor.ports.now()) continue;
      this.#planned.delete(key);
      this.#actor.delete(key);
      this.#add(text);
    }
    const filter = { names: ["notes"], count: 10, notAfter: Number.POSITIVE_INFINITY, hold: false };
    for (const { body } of this.#actor.queue.take(filter)) this.#add(decodeValue(body) as string);
    this.#actor.settle();
  }

  beforeCommit(): void {
    this.#commits += 1;
    this.#actor.put(KEYS.part("notes", "commits"), () => encodeValue(this.#commits));
  }

  committed(): void {
    this.#told.push(`committed ${this.#commits}`);
  }

  leaving(): void {
    this.#told.push("leaving");
  }

  idle(): Promise<void> {
    this.#told.push("idle");
    return Promise.resolve();
  }

  waitsIn(steps: ReadonlySet<string>): boolean {
    return steps.has("notes#1");
  }

  async answer(body: Uint8Array): Promise<Uint8Array> {
    this.#add(decodeValue(body) as string);
    return encodeValue(this.#list());
  }

  suspend(): void {
    this.#told.push("suspend");
  }

  destroyed(): void {
    this.#told.push("destroyed");
  }

  end(reason: Error): void {
    this.#told.push(`end: ${reason.message}`);
  }

  #notes(guard: () => void): Notes {
    const guarded =
      <A extends unknown[], T>(work: (...args: A) => T) =>
      (...args: A): T => {
        guard();
        return work(...args);
      };
    return {
      add: guarded((text: string) => {
        this.writes += 1;
        this.#add(text);
      }),
      list: guarded(() => this.#list()),
      remind: guarded((text: string, afterMs: number) =>
        this.#actor.deadlines.parts.put("notes", { at: this.#actor.ports.now() + afterMs, text }),
      ),
      plan: guarded((text: string, afterMs: number) => {
        const key = KEYS.part("notes", `p/${text}`);
        const planned = { text, at: this.#actor.ports.now() + afterMs };
        this.#planned.set(key, planned);
        this.#actor.put(key, () => encodeValue(planned));
        this.#actor.deadlinesChanged();
      }),
      work: guarded((promise: Promise<string>) => this.#work(promise)),
    };
  }

  #work(promise: Promise<string>): void {
    this.#working += 1;
    this.#actor.workChanged();
    const ended = promise.then((text) => {
      this.#working -= 1;
      this.#add(text);
      this.#actor.workChanged();
    });
    this.#actor.ports.waitUntil(ended);
  }

  #add(text: string): void {
    const seq = this.#actor.nextSeq();
    this.#actor.put(KEYS.part("notes", `t/${seq}`), () => encodeValue(text));
    this.#actor.changedSoon();
  }

  #list(): string[] {
    const rows = this.#actor.list(KEYS.part("notes", "t/"), { limit: 100 });
    return rows
      .map(([key, bytes]) => [Number(key.slice(key.lastIndexOf("/") + 1)), decodeValue(bytes) as string] as const)
      .sort(([a], [b]) => a - b)
      .map(([, text]) => text);
  }
}

/** The part, for one world; `told` is what its actors' activations were told. */
function notesPart(told: Told): Part {
  return {
    name: "notes",
    serves: ({ name }) => name === "former",
    join: (joined, carrier) => {
      told.push(carrier ? "join" : "join a former one");
      return new NotesOfActor(joined, told);
    },
  };
}

type Context = { readonly notes: Notes; state: { n: number } };

interface Subject {
  readonly world: World;
  readonly subject: WorldActor;
  readonly told: Told;
  run<T>(body: (c: Context) => T): Promise<Awaited<T>>;
  notes(): Promise<string[]>;
}

function subjectOf(options: Partial<WorldOptions> = {}, config: object = {}): Subject {
  const told: Told = [];
  let body: (c: Context) => unknown = () => {};
  // Any member of a definition that parts come with carries it.
  const db = carryPart({ createClient: () => undefined }, notesPart(told)) as DatabaseProvider<undefined>;
  const definition = {
    state: { n: 0 },
    db,
    actions: { run: (c: unknown) => body(c as Context), notes: (c: unknown) => (c as Context).notes.list() },
    ...config,
  };
  const former = actor({ actions: { notes: (c) => (c as unknown as Context).notes.list() } });
  const world = testWorld(
    setup({
      use: { subject: actor(definition as never) as unknown as AnyActorDefinition, former },
    }) as unknown as Registry,
    options,
  );
  const subject = world.actor("subject");
  return {
    world,
    subject,
    told,
    run: async (next) => {
      body = next;
      return (await subject.call("run")) as never;
    },
    notes: async () => (await subject.call("notes")) as string[],
  };
}

const rowsOf = (subject: WorldActor): string[] =>
  [...subject.store.dump().keys()].filter((key) => key.startsWith("p/notes/t/"));

describe("a part", () => {
  it("stores rows of its own in one commit with the state, numbered by the actor's counter after a restart, too", async () => {
    const { run, subject, notes } = subjectOf();
    const commits: number[] = [];
    await run((c) => {
      c.state.n += 1;
      c.notes.add("one");
      commits.push(subject.store.commits);
    });
    expect(subject.store.commits).toBe((commits[0] as number) + 1);
    subject.crash();
    await run((c) => c.notes.add("two"));
    expect(await notes()).toEqual(["one", "two"]);
    expect(rowsOf(subject)).toEqual(["p/notes/t/1", "p/notes/t/2"]);
  });

  it("has a member in contexts of actions, hooks and steps, which ends with the attempt", async () => {
    let kept: Notes | undefined;
    const { run, notes, world } = subjectOf(
      {},
      {
        onCreate: (c: Context) => c.notes.add("hook"),
        run: workflow(async (ctx) => {
          await ctx.step("note", (step) => {
            kept = (step as unknown as Context).notes;
            kept.add("step");
          });
        }),
      },
    );
    await run((c) => c.notes.add("action"));
    await world.settle();
    expect((await notes()).sort()).toEqual(["action", "hook", "step"]);
    expect(() => kept?.add("late")).toThrow(expect.objectContaining({ code: "step_ended" }));
  });

  it("is woken by a deadline of the table, and by one in its own rows, after an eviction", async () => {
    const { run, notes, world, subject } = subjectOf();
    await run((c) => {
      c.notes.remind("reminded", 5 * MINUTE_MS);
      c.notes.plan("planned", 9 * MINUTE_MS);
    });
    await subject.evict();
    await world.pass(4 * MINUTE_MS);
    expect(rowsOf(subject)).toHaveLength(0);
    await world.pass(2 * MINUTE_MS);
    expect(rowsOf(subject)).toHaveLength(1);
    await subject.evict();
    await world.pass(4 * MINUTE_MS);
    expect(await notes()).toEqual(["reminded", "planned"]);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("holds the lease while it works, so that a crash starts the actor again, carefully", async () => {
    const { run, notes, world, subject, told } = subjectOf();
    let end: (text: string) => void = () => {};
    await run((c) => c.notes.work(new Promise((resolve) => (end = resolve))));
    expect(subject.holdsLease).toBe(true);
    subject.crash();
    await world.pass(MINUTE_MS);
    expect(told).toContain("begin carefully");
    expect(subject.holdsLease).toBe(false);
    await run((c) => c.notes.work(new Promise((resolve) => (end = resolve))));
    expect(subject.holdsLease).toBe(true);
    end("done");
    await world.settle();
    expect([await notes(), subject.holdsLease]).toEqual([["done"], false]);
  });

  it("takes messages of the actor's queue, once, wherever the process dies", async () => {
    const play = async (
      options: Partial<WorldOptions>,
    ): Promise<{ sent: boolean; taken: string[]; left: string[] }> => {
      const { world, subject, notes } = subjectOf(options, { queues: { notes: {} } });
      const envelope = [{ mode: "getOrCreate" }, { kind: "send", queue: "notes", body: encodeValue("x") }] as const;
      const sent = await subject.send(...envelope).then(
        ({ ok }) => ok,
        () => false,
      );
      await world.pass(MINUTE_MS);
      const left = [...subject.store.dump().keys()].filter((key) => key.startsWith("m/"));
      return { sent, taken: await notes().catch(notes), left };
    };
    let commits = 0;
    expect(await play({ onCommit: () => void (commits += 1) })).toEqual({ sent: true, taken: ["x"], left: [] });
    expect(commits).toBeGreaterThan(2);
    for (let at = 1; at <= commits; at += 1) {
      for (const fault of ["crash-before", "crash-after"] as const) {
        const { sent, taken, left } = await play({ fault: (_actor, commit) => (commit === at ? fault : undefined) });
        expect(left).toEqual([]);
        expect(sent ? [["x"]] : [["x"], []]).toContainEqual(taken);
      }
    }
  });

  it("answers an operation of its own from the wire once its changes are stored; others create nothing", async () => {
    const { subject, world, notes } = subjectOf();
    const ask = (actorOf: WorldActor, part: string) =>
      actorOf.send({ mode: "getOrCreate" }, { kind: "part", part, body: encodeValue("asked") });
    const reply = await ask(subject, "notes");
    expect(reply.ok && decodeValue(reply.output as Uint8Array)).toEqual(["asked"]);
    subject.crash();
    expect(await notes()).toEqual(["asked"]);
    for (const [actorOf, part] of [
      [subject, "nothing"],
      [subject, "workflow"],
      [world.actor("former", ["new"]), "nothing"],
    ] as const) {
      expect(await ask(actorOf, part)).toMatchObject({ ok: false, error: { group: "feature", code: "unsupported" } });
    }
    expect(world.actor("former", ["new"]).store.dump().size).toBe(0);
  });

  it("serves an actor whose definition has it no more, as long as another one brings it", async () => {
    const { world, told } = subjectOf();
    expect(await world.actor("former").call("notes")).toEqual([]);
    expect(told).toContain("join a former one");
  });

  it("knows who can receive nothing", async () => {
    const { subject } = subjectOf({}, { queues: { notes: {} } });
    const reply = await subject.send({ mode: "getOrCreate" }, { kind: "resolve" });
    const chain = (step: string) => [
      { actorId: reply.ok ? reply.actorId : "", name: "subject", waits: "workflow" as const, step, depth: 1 },
    ];
    const send = (step: string) =>
      subject.sendInside(
        { mode: "get" },
        { kind: "send", queue: "notes", body: encodeValue("x"), wait: true, timeoutMs: 1 },
        chain(step),
      );
    expect(await send("notes#1")).toMatchObject({ ok: false, error: { group: "queue", code: "wait_cycle" } });
    expect(await send("notes#2")).toMatchObject({ ok: true });
  });

  it("is told of starts, commits and ends, in order", async () => {
    const { world, subject, run, told } = subjectOf({}, { onSleep: () => {} });
    const since = (from: number): string[] =>
      told.slice(from).filter((each) => !/^(leaving|idle|committed)/.test(each));
    await run((c) => void (c.state.n += 1));
    expect(since(0)).toEqual(["join", "together creation", "migrate"]);
    expect(told.filter((each) => each.startsWith("committed"))[0]).toBe("committed 1");
    expect(told.indexOf("leaving")).toBeLessThan(told.indexOf("committed 1"));
    let from = told.length;
    // Nobody waits for this commit.
    await run((c) => void setImmediate(() => (c.state.n += 1)));
    await world.settle();
    expect(told.slice(from)).toContain("idle");
    from = told.length;
    await subject.send({ mode: "get" }, { kind: "sleep" });
    await world.settle();
    expect(since(from)).toEqual(["suspend", "end: The actor went to sleep"]);
    from = told.length;
    await run(() => {});
    expect(since(from)).toEqual(["join", "load", "together onMigrate", "migrate"]);
    from = told.length;
    await subject.send({ mode: "get" }, { kind: "destroy" });
    await world.settle();
    expect(since(from)).toEqual(["destroyed", "end: The actor was destroyed"]);
  });

  it("has the same rows wherever the process dies", async () => {
    const play = async (
      options: Partial<WorldOptions>,
    ): Promise<{ rows: string[]; alarmAt: number | null; n: number }> => {
      const { world, subject, run, notes } = subjectOf(options);
      const again = <T>(work: () => Promise<T>): Promise<T> => work().catch(work);
      await again(() =>
        run((c) => {
          if (c.state.n > 0) return;
          c.state.n = 1;
          c.notes.add("one");
          c.notes.remind("two", MINUTE_MS);
          c.notes.plan("three", 2 * MINUTE_MS);
        }),
      );
      await world.pass(5 * MINUTE_MS);
      const rows = await again(notes);
      return { rows, alarmAt: subject.store.alarmAt, n: await again(() => run((c) => c.state.n)) };
    };
    let commits = 0;
    const undisturbed = await play({ onCommit: () => void (commits += 1) });
    expect(undisturbed).toEqual({ rows: ["one", "two", "three"], alarmAt: null, n: 1 });
    expect(commits).toBeGreaterThan(3);
    for (let at = 1; at <= commits; at += 1) {
      for (const fault of ["crash-before", "crash-after"] as const) {
        expect(
          await play({ fault: (_actor, commit) => (commit === at ? fault : undefined) }),
          `${fault} ${at}`,
        ).toEqual(undisturbed);
      }
    }
  });
});
