/**
 * Golden histories: the storage of an actor in the middle of a workload, kept as files that every later build must open and
 * finish. `scripts/golden.mjs` writes each file once; `replay-histories.test.ts` opens them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { actor, setup, workflow, type Registry } from "../../../src/actor/index.js";
import { decodeValue } from "../../../src/protocol/index.js";
import { ManualClock, World, type WorldActor, type WorldOptions } from "../../../src/testing/index.js";
import { decodeEntry, type Entry } from "../../../src/workflow/internal.js";

// Workloads use the loosest types, so that changes of the public types do not change them.
// oxlint-disable-next-line typescript/no-explicit-any
export type Any = any;
/** A workflow's function. It must never change once a history of it exists: add another workload instead. */
export type Program = (ctx: Any, clock: ManualClock) => Promise<unknown>;

export interface Workload {
  /** Also the name of its file. */
  readonly name: string;
  readonly program?: Program;
  /** Further parts of the actor's definition. */
  readonly config?: (clock: ManualClock) => Record<string, unknown>;
  /** What defines the moment: each string must occur in a line of `Golden.lines`. */
  readonly holds: readonly string[];
  /** Runs from a new world to the moment to keep. */
  readonly begin: (golden: Golden) => Promise<Golden | void>;
  /** What to do once it is opened, besides letting time pass; its result is `answer` in the outcome. */
  readonly finish?: (golden: Golden) => Promise<unknown>;
  /** True if something was running: opening it finds a lease, or the actor being destroyed. */
  readonly isCutOff?: boolean;
  readonly ends: Partial<Outcome>;
}

/** A file of `v*`: all keys of the actor's storage, in hex. */
export interface Dump {
  readonly workload: string;
  readonly format: number;
  /** Epoch ms of the moment, and of the alarm. */
  readonly now: number;
  readonly alarmAt: number | null;
  readonly rows: Readonly<Record<string, string>>;
}

/** The final state of an actor, as far as its users can observe it. */
export interface Outcome {
  readonly status: string | undefined;
  readonly output: unknown;
  readonly failure: unknown;
  readonly rollbackErrors: unknown;
  readonly state: unknown;
  /** Queue and body of the messages left. */
  readonly queued: readonly unknown[];
  /** Keys that should be gone: lease, deadlines, due events. */
  readonly left: readonly string[];
  readonly alarmAt: number | null;
  readonly answer: unknown;
}

/** A workload's actor in a world of its own. */
export class Golden {
  readonly clock: ManualClock;
  readonly world: World;
  readonly subject: WorldActor;
  readonly workload: Workload;
  readonly #options: Partial<WorldOptions>;

  /** `program`: null if the actor has no workflow. */
  constructor(
    workload: Workload,
    program: Program | null = workload.program ?? null,
    options: Partial<WorldOptions> = {},
  ) {
    this.workload = workload;
    this.#options = options;
    this.clock = options.clock ?? new ManualClock();
    this.world = new World(registryOf(workload, program, this.clock), {
      nextTurn: (run) => setImmediate(run),
      ...options,
      clock: this.clock,
    });
    this.subject = this.world.actor("subject", ["golden", "1"]);
  }

  /** Opens stored rows with a program: the workload's, another one, or none. */
  static open(
    workload: Workload,
    dump: Dump,
    program: Program | null = workload.program ?? null,
    options: Partial<WorldOptions> = {},
  ): Golden {
    const golden = new Golden(workload, program, { ...options, clock: options.clock ?? new ManualClock(dump.now) });
    golden.subject.store.restore(rowsOf(dump), dump.alarmAt);
    return golden;
  }

  /** A deploy: the same storage and time under other code. This world must not be used any more. */
  deploy(program: Program | null = this.workload.program ?? null): Golden {
    const rows = this.subject.store.dump();
    const { alarmAt } = this.subject.store;
    this.subject.crash();
    this.subject.store.setAlarm(null);
    const next = new Golden(this.workload, program, { ...this.#options, clock: this.clock });
    next.subject.store.restore(rows, alarmAt);
    return next;
  }

  call(action: string, ...args: unknown[]): Promise<Any> {
    return this.subject.call(action, ...args);
  }

  get keys(): string[] {
    return this.subject.store.keys;
  }

  dump(): Dump {
    const rows = [...this.subject.store.dump()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, bytes]) => [key, hex(bytes)] as const);
    const { format } = decodeValue(this.subject.store.dump().get("a") as Uint8Array) as { format: number };
    return {
      workload: this.workload.name,
      format,
      now: this.clock.now(),
      alarmAt: this.subject.store.alarmAt,
      rows: Object.fromEntries(rows),
    };
  }

  /** Storage as lines: keys, and entries as `kind location status` with attempts and deadline. */
  lines(): string[] {
    const entries = this.entries().map(({ kind, location, status, attempts, interrupted, dueAt }) => {
      const counts = `${attempts > 0 ? `, attempts ${attempts}` : ""}${interrupted > 0 ? `, interrupted ${interrupted}` : ""}`;
      return `${kind} ${location.join("/")} ${status}${counts}${dueAt === undefined ? "" : ", due"}`;
    });
    return [...this.keys, ...entries];
  }

  /** Lets the actor run to its end, whatever time that takes. */
  async finish(): Promise<Outcome> {
    const answer = await this.workload.finish?.(this);
    await this.world.passUntilQuiet();
    const rows = this.subject.store.dump();
    const read = (key: string): Any => rows.has(key) && decodeValue(rows.get(key) as Uint8Array);
    const { workflow: record } = read("a") || {};
    return {
      status: record?.status,
      output: record?.value && decodeValue(record.value),
      failure: withoutSeqs(record?.failure),
      rollbackErrors: record?.rollbackErrors,
      state: read("s") || undefined,
      queued: [...rows.keys()]
        .filter((key) => key.startsWith("m/"))
        .sort()
        .map((key) => [read(key)[0], decodeValue(read(key)[1])]),
      left: [...rows.keys()].filter((key) => /^[ldf]/.test(key)),
      alarmAt: this.subject.store.alarmAt,
      answer,
    };
  }

  /** Stored entries in order of `seq`. */
  entries(): Entry[] {
    return [...this.subject.store.dump()]
      .filter(([key]) => key.startsWith("e/"))
      .map(([key, bytes]) => decodeEntry(Number(key.slice(2)), bytes))
      .sort((a, b) => a.seq - b.seq);
  }
}

/** Runs a workload to the moment to keep. */
export async function begin(workload: Workload): Promise<Golden> {
  const golden = new Golden(workload);
  await golden.call("get");
  await golden.world.settle();
  return (await workload.begin(golden)) ?? golden;
}

/** All golden files below the folder, with their workloads. */
export function goldenFiles(
  files: readonly string[],
  workloads: readonly Workload[],
): [file: string, dump: Dump, workload: Workload][] {
  return files.map((file) => {
    const dump = JSON.parse(readFileSync(join(import.meta.dirname, file), "utf8")) as Dump;
    const workload = workloads.find((each) => each.name === dump.workload);
    if (!workload) throw new Error(`${file} is of no known workload`);
    return [file, dump, workload];
  });
}

export function rowsOf(dump: Dump): Map<string, Uint8Array<ArrayBuffer>> {
  return new Map(Object.entries(dump.rows).map(([key, text]) => [key, unhex(text)]));
}

/** Which operation a failure came from is internal: earlier releases did not store it. */
function withoutSeqs(value: Any): Any {
  if (Array.isArray(value)) return value.map(withoutSeqs);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.getPrototypeOf({}))
    return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "seq")
      .map(([key, each]) => [key, withoutSeqs(each)]),
  );
}

function registryOf(workload: Workload, program: Program | null, clock: ManualClock): Registry {
  const { actions, onError, ...config } = (workload.config?.(clock) ?? {}) as Any;
  const subject = actor({
    createState: () => ({ log: [] }),
    ...config,
    ...(program ? { run: workflow(((ctx: Any) => program(ctx, clock)) as Any, onError ? { onError } : {}) } : {}),
    actions: {
      get: (c: Any) => c.state,
      status: (c: Any) => c.workflow.status(),
      history: (c: Any) => c.workflow.history(),
      takeFrom: async (c: Any, queue: string) => (await c.queue.tryNext({ names: [queue] }))?.body,
      ...actions,
    },
  } as Any);
  return setup({ use: { subject } }) as unknown as Registry;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function unhex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
