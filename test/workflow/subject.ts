/** One actor with a workflow in a simulated world of its own. */
import {
  actor,
  setup,
  workflow,
  type QueueDeclarations,
  type Registry,
  type StepAttempt,
  type WorkflowContext,
  type WorkflowHistoryEntry,
  type WorkflowStatus,
  type WorkflowStepContext,
} from "../../src/actor/index.js";
import { decodeValue, encodeValue } from "../../src/protocol/index.js";
import { ManualClock, type World, type WorldActor } from "../../src/testing/index.js";
import { decodeEntry, type Entry } from "../../src/workflow/internal.js";
import { testWorld } from "../support/test-world.js";

// Test programs use the loosest types: test/types tests what the public types allow.
// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;
// oxlint-disable-next-line typescript/no-empty-object-type
export type Ctx = WorkflowContext<Any, Any, Any, Any, Any, Any, {}, {}>;
// oxlint-disable-next-line typescript/no-empty-object-type
export type Step = WorkflowStepContext<Any, Any, Any, Any, Any, Any, {}, {}>;
/** A workflow function; `self` is the subject that runs it, for its clock and its store. */
export type Program = (ctx: Ctx, self: Subject) => Promise<unknown>;

export interface SubjectOptions {
  readonly state?: unknown;
  readonly queues?: QueueDeclarations;
  readonly actions?: Record<string, (c: Any, ...args: Any[]) => unknown>;
  readonly options?: Record<string, number>;
  /** Further hooks of the actor. */
  readonly config?: Record<string, unknown>;
  /** Called with the workflow's failures. */
  readonly onError?: (c: Any, event: Any) => unknown;
  readonly clock?: ManualClock;
  /** What contexts have as `env`. */
  readonly env?: object;
  readonly fault?: (commit: number) => "crash-before" | "crash-after" | "refuse" | undefined;
  /** A release that knows no newer storage format. */
  readonly newestFormat?: number;
  /** Runs the callbacks of the subject's attempts, or something in their place. */
  readonly interceptAttempt?: (attempt: StepAttempt) => unknown;
  /** Called with the subject's commits, each with all rows. */
  readonly onCommit?: (rows: ReadonlyMap<string, Uint8Array>) => void;
  /** Other actors of the registry. */
  readonly use?: Record<string, Any>;
}

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export type Reply = { readonly status: "completed"; readonly response?: unknown } | { readonly status: "timedOut" };

export class Subject {
  readonly world: World;
  readonly actor: WorldActor;
  readonly clock: ManualClock;
  readonly logs: LogLine[];
  readonly #options: SubjectOptions;

  constructor(program: Program | undefined, options: SubjectOptions) {
    this.clock = options.clock ?? new ManualClock();
    this.#options = options;
    const logs: LogLine[] = [];
    this.logs = logs;
    this.world = testWorld(registryOf(program, options, this), {
      clock: this.clock,
      ...(options.env && { env: options.env }),
      onLog: (level, line) =>
        logs.push({ level, ...(typeof line === "string" ? { msg: line } : (line as { msg: string })) }),
      onCommit: (each, rows) => each.name === "subject" && options.onCommit?.(rows),
      ...(options.interceptAttempt ? { interceptAttempt: options.interceptAttempt } : {}),
      ...(options.newestFormat === undefined ? {} : { newestFormat: options.newestFormat }),
      ...(options.fault
        ? { fault: (each, commit) => (each.name === "subject" ? options.fault?.(commit) : undefined) }
        : {}),
    });
    this.actor = this.world.actor("subject", ["k"]);
  }

  get errors(): LogLine[] {
    return this.logs.filter((line) => line.level === "error");
  }

  call(action: string, ...args: unknown[]): Promise<Any> {
    return this.actor.call(action, ...args);
  }

  state(): Promise<Any> {
    return this.call("get");
  }

  /** How the workflow stands, without its times and what it does now. */
  async status(): Promise<WorkflowStatus> {
    const { startedAt: _, endedAt: __, parkedOn: ___, acts: ____, ...rest } = await this.position();
    return rest;
  }

  /** The same with them. */
  position(): Promise<WorkflowStatus> {
    return this.call("status") as Promise<WorkflowStatus>;
  }

  history(): Promise<WorkflowHistoryEntry[]> {
    return this.call("history") as Promise<WorkflowHistoryEntry[]>;
  }

  /** Stored entries in order of `seq`, read without waking the actor. */
  stored(): Entry[] {
    return [...this.actor.store.dump()]
      .filter(([key]) => key.startsWith("e/"))
      .map(([key, bytes]) => decodeEntry(Number(key.slice(2)), bytes))
      .sort((a, b) => a.seq - b.seq);
  }

  /** Stored entries as `kind location status`. */
  lines(): string[] {
    return this.stored().map((entry) => `${entry.kind} ${entry.location.join("/")} ${entry.status}`);
  }

  /** The stored workflow record without its times, read without waking the actor. */
  record(): Any {
    const bytes = this.actor.store.dump().get("a");
    const record = bytes && (decodeValue(bytes) as { workflow?: { times?: unknown; acts?: unknown } }).workflow;
    const { times: _, acts: __, ...rest } = record ?? {};
    return record && rest;
  }

  get queued(): number {
    return this.actor.store.keys.filter((key) => key.startsWith("m/")).length;
  }

  async send(queue: string, body?: unknown): Promise<{ id: number; createdAt: number }> {
    const reply = await this.actor.send({ mode: "getOrCreate" }, { kind: "send", queue, body: encodeValue(body) });
    if (!reply.ok) throw Object.assign(new Error(reply.error.message), reply.error);
    return decodeValue(reply.output as Uint8Array) as { id: number; createdAt: number };
  }

  /** Sends and waits for the reply, as a Worker does for a client. */
  async sendAndWait(queue: string, body: unknown, timeoutMs: number): Promise<Reply> {
    const reply = await this.actor.send(
      { mode: "getOrCreate" },
      { kind: "send", queue, body: encodeValue(body), wait: true, timeoutMs },
    );
    if (!reply.ok) throw Object.assign(new Error(reply.error.message), reply.error);
    const { id, createdAt } = decodeValue(reply.output as Uint8Array) as { id: number; createdAt: number };
    return this.wait(id, createdAt, timeoutMs);
  }

  async wait(messageId: number, createdAt: number, timeoutMs: number): Promise<Reply> {
    const waited = await this.actor.send({ mode: "get" }, { kind: "wait", messageId, createdAt, timeoutMs });
    if (!waited.ok) throw Object.assign(new Error(waited.error.message), waited.error);
    const result = decodeValue(waited.output as Uint8Array) as { status: "completed" | "timedOut"; reply?: Uint8Array };
    if (result.status === "timedOut") return { status: "timedOut" };
    return result.reply ? { status: "completed", response: decodeValue(result.reply) } : { status: "completed" };
  }

  /** Crashes the object and restarts it with a call. */
  async restart(): Promise<void> {
    this.actor.crash();
    await this.call("get");
    await this.world.settle();
  }

  /** Crashes the object and sends a message that nobody reads, so that the workflow replays. */
  async replay(): Promise<void> {
    this.actor.crash();
    await this.send("nobody reads this");
    await this.world.settle();
  }

  /** A deploy: the same storage under other code. The old world must not be used any more. */
  deploy(program: Program | undefined, options: Partial<SubjectOptions> = {}): Subject {
    const rows = this.actor.store.dump();
    const alarmAt = this.actor.store.alarmAt;
    this.actor.crash();
    this.actor.store.setAlarm(null);
    const next = new Subject(program, { ...this.#options, ...options, clock: this.clock });
    next.actor.store.restore(rows, alarmAt);
    return next;
  }
}

/** Creates the actor and lets it do everything that takes no time. */
export async function subject(program: Program, options: SubjectOptions = {}): Promise<Subject> {
  const made = new Subject(program, options);
  await made.call("get");
  await made.world.settle();
  return made;
}

/** Runs a program to its end, whatever time it takes, and again after a restart. */
export async function finished(program: Program, options: SubjectOptions = {}): Promise<Subject> {
  const made = await subject(program, options);
  await made.world.passUntilQuiet();
  return made;
}

function registryOf(program: Program | undefined, options: SubjectOptions, self: Subject): Registry {
  const definition = actor({
    state: options.state ?? { log: [] },
    ...(options.queues ? { queues: options.queues } : {}),
    ...(options.options ? { options: options.options } : {}),
    ...options.config,
    ...(program
      ? {
          run: workflow(((ctx: Ctx) => program(ctx, self)) as Any, options.onError ? { onError: options.onError } : {}),
        }
      : {}),
    actions: {
      get: (c: Any) => c.state,
      status: (c: Any) => c.workflow.status(),
      history: (c: Any) => c.workflow.history(),
      cancel: (c: Any, options?: object) => c.workflow.cancel(options),
      retry: (c: Any, options?: object) => c.workflow.retry(options),
      pause: (c: Any, reason?: string, options?: object) => c.workflow.pause(reason, options),
      resume: (c: Any, options?: object) => c.workflow.resume(options),
      skip: (c: Any, id: string, value?: unknown, options?: object) => c.workflow.skip(id, value, options),
      recover: (c: Any) => c.workflow.recover(),
      replayFrom: (c: Any, id?: string, options?: object) => c.workflow.replayFrom(id, options),
      /** As a completable receive that completes nothing. */
      peek: async (c: Any, selection?: object) => {
        const { complete: _, ...message } = (await c.queue.tryNext({ ...selection, completable: true })) ?? {};
        return "id" in message ? message : undefined;
      },
      tryNext: (c: Any, selection?: object) => c.queue.tryNext(selection),
      next: (c: Any, selection?: object) => c.queue.next(selection),
      ...options.actions,
    },
  } as Any);
  return setup({ use: { subject: definition, ...options.use } }) as unknown as Registry;
}

/** Counts how often each name ran. */
export class Runs {
  readonly list: string[] = [];

  /** A callback that notes its run and returns a value. */
  of<T>(name: string, value?: T): () => T {
    return () => {
      this.list.push(name);
      return value as T;
    };
  }

  note(name: string): void {
    this.list.push(name);
  }

  count(name: string): number {
    return this.list.filter((each) => each === name).length;
  }
}
