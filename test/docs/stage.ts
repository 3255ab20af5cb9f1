/** Where an example of a guide runs: a world with its actors, the service that they call, and whoever calls them. */
import { DatabaseSync } from "node:sqlite";
import type { Registry } from "perdure";
import { ManualClock, type World, type WorldActor } from "../../src/testing/index.js";
import { vi } from "vitest";
import { decodeValue, encodeValue, fromErrorData } from "../../src/protocol/index.js";
import { testWorld } from "../support/test-world.js";

// oxlint-disable-next-line typescript/no-explicit-any -- an example's own types are checked by tsc, with the example
type Any = any;

/** What a block of a guide exports: actors, or a Worker. */
export interface Example {
  readonly registry: Registry<never>;
  readonly default?: { fetch(request: Request, env: unknown, ctx: unknown): Promise<Response> };
}

/** What a guide says of an example, each with the proof. `blocks` are all examples of the guide, by file. */
export type Claims = Readonly<
  Record<string, (example: Example, blocks: Readonly<Record<string, Example>>) => Promise<void>>
>;

/** A request to the service at https://api.example.com that the examples call. */
export interface ServiceCall {
  readonly method: string;
  /** Without its first slash. */
  readonly path: string;
  readonly body: Any;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Answers a request: with JSON, or with a status. */
export type Service = (call: ServiceCall, clock: ManualClock) => unknown;

export interface StageOptions {
  readonly service?: Service;
  /** What the examples find as `c.env`. */
  readonly env?: object;
  readonly fault?: (actor: WorldActor, commit: number) => "crash-before" | "crash-after" | undefined;
}

export type Reply = { readonly status: "completed"; readonly response?: Any } | { readonly status: "timedOut" };

export class Stage {
  readonly clock = new ManualClock();
  readonly world: World;
  readonly calls: ServiceCall[] = [];
  /** Everything that was logged as an error. */
  readonly errors: unknown[] = [];

  constructor({ registry }: Example, { service = () => ({}), ...options }: StageOptions = {}) {
    this.world = this.#newWorld(registry, options);
    vi.spyOn(Date, "now").mockImplementation(() => this.clock.now());
    vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
      const body: unknown =
        typeof init.body === "string" && init.body.startsWith("{") ? JSON.parse(init.body) : init.body;
      const headers = Object.fromEntries(new Headers(init.headers));
      const path = url.replace("https://api.example.com/", "");
      const call = {
        method: init.method ?? "GET",
        path,
        body,
        headers,
        signal: init.signal ?? new AbortController().signal,
      };
      this.calls.push(call);
      const answer = await service(call, this.clock);
      return answer instanceof Response ? answer : Response.json(answer);
    });
  }

  /** `method path` of each call to the service. */
  get requests(): string[] {
    return this.calls.map(({ method, path }) => `${method} ${path}`);
  }

  /** Sets the clock, that of the examples' code included. */
  atTime(now: number): void {
    this.clock.moveTo(now);
  }

  actor(name: string, key = "k"): Player {
    return new Player(this.world, this.world.actor(name, [key]));
  }

  /** The actor's storage under other code: a deploy. The one that ran before is dead. */
  deploy({ actor }: Player, { registry }: Example): Player {
    const { name, key, store } = actor;
    const [rows, alarmAt] = [store.dump(), store.alarmAt];
    actor.crash();
    store.setAlarm(null);
    const next = new Player(this.#newWorld(registry), undefined, name, key);
    next.actor.store.restore(rows, alarmAt);
    return next;
  }

  #newWorld(registry: Registry<never>, options: Pick<StageOptions, "env" | "fault"> = {}): World {
    const onLog = (level: string, entry: unknown): void => {
      if (level === "error") this.errors.push(entry);
    };
    return testWorld(registry, {
      openDatabase: () => new DatabaseSync(":memory:"),
      clock: this.clock,
      onLog,
      ...options,
    });
  }
}

/** An actor, and what is done to it. */
export class Player {
  readonly world: World;
  readonly actor: WorldActor;

  constructor(world: World, actor: WorldActor | undefined, name = "", key: readonly string[] = []) {
    this.world = world;
    this.actor = actor ?? world.actor(name, key);
  }

  /** Calls an action, which creates the actor, and lets happen what needs no time. */
  async call(action: string, ...args: unknown[]): Promise<Any> {
    const result = await this.actor.call(action, ...args);
    await this.world.settle();
    return result;
  }

  async create(input: unknown, action: string, ...args: unknown[]): Promise<Any> {
    const reply = await this.actor.send(
      { mode: "getOrCreate", input: encodeValue(input) },
      { kind: "action", name: action, args: encodeValue(args) },
    );
    if (!reply.ok) throw fromErrorData(reply.error, reply.status);
    await this.world.settle();
    return reply.output && decodeValue(reply.output);
  }

  async send(queue: string, body: unknown): Promise<void> {
    await this.#send(queue, body);
    await this.world.settle();
  }

  /** As a client's `send(queue, body, { wait: true, timeout })`. */
  async ask(queue: string, body: unknown, timeout: number): Promise<Reply> {
    const { id, createdAt } = await this.#send(queue, body, { wait: true, timeoutMs: timeout });
    let result: { status: "completed" | "timedOut"; reply?: Uint8Array } | undefined;
    const waiting = this.actor
      .send({ mode: "get" }, { kind: "wait", messageId: id, createdAt, timeoutMs: timeout })
      .then((reply) => {
        if (!reply.ok) throw fromErrorData(reply.error, reply.status);
        result = decodeValue(reply.output as Uint8Array) as typeof result;
      });
    await this.world.settle();
    if (result === undefined) await this.world.pass(timeout);
    await waiting;
    if (result?.status !== "completed") return { status: "timedOut" };
    return { status: "completed", ...(result.reply ? { response: decodeValue(result.reply) } : {}) };
  }

  /** Messages that are stored. */
  get queued(): number {
    return this.actor.store.keys.filter((key) => key.startsWith("m/")).length;
  }

  /** Rows that are billed: puts, deletes and alarm writes. */
  get rowsWritten(): number {
    return this.actor.store.rows + this.actor.store.alarmWrites;
  }

  /** Its process dies; the next event starts it again. */
  crash(): void {
    this.actor.crash();
  }

  async #send(queue: string, body: unknown, wait: object = {}): Promise<{ id: number; createdAt: number }> {
    const reply = await this.actor.send(
      { mode: "getOrCreate" },
      { kind: "send", queue, body: encodeValue(body), ...wait },
    );
    if (!reply.ok) throw fromErrorData(reply.error, reply.status);
    return decodeValue(reply.output as Uint8Array) as { id: number; createdAt: number };
  }
}

/** What a promise rejected with, as `group/code`. */
export async function codeOf(failing: Promise<unknown>): Promise<string> {
  try {
    await failing;
    return "none";
  } catch (error) {
    const { group, code } = error as { group?: string; code?: string };
    return `${group}/${code}`;
  }
}

/** What an example finds as `env` of `cloudflare:workers`. */
export const platformEnv: Record<string, unknown> = {};
