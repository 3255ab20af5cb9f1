import type { ClientEffects, Registry, StepAttempt } from "../../actor/index.js";
import { codecOf, createClientWithTransport, encodeClientInput, type ActorTransport } from "../../client/in-process.js";
import type { Encoding } from "../../protocol/index.js";
import { ManualClock, World, type WorldActor, type WorldOptions } from "../../testing/index.js";
import type { ActorNamespace } from "../../router/index.js";
import { createRegistryWorker, type ClientUses, type RegistryWorker } from "../../worker/index.js";
import { actorOf, type ActorTarget } from "./actor-of.js";
import { openNodeDatabase } from "./node-database.js";
import { namespaceOf, ofProcess } from "./namespace.js";
import { readWorldOptions, type ResolvedOptions, type TestWorldOptions } from "./options.js";
import { followRealWork } from "./real-work.js";
import { checkRegistry } from "./registry.js";
import { RunningCodes } from "./running-code.js";
import { VirtualTime } from "./virtual-time.js";
import { watchedTransport, type WatchCall } from "./watched-transport.js";
import { socketsOf } from "./worker-sockets.js";
import { workerTime } from "./worker-time.js";

type ClientCodec = ReturnType<typeof codecOf>;

/** What a capability may add to the simulation, at any time. */
export type WorldHooks = {
  -readonly [
    name in "enter" | "fault" | "portFault" | "deleteFault" | "onCommit" | "onDurable" | "onLeft" | "onLog"
  ]?: WorldOptions[name];
} & {
  /** Told of the calls of user code that no step began, and which nothing waits for. */
  clientEffects?: ClientEffects;
  /** Makes a call of the test over a connection. */
  callOver?: <T>(call: () => Promise<T>) => Promise<T>;
  /** Runs what may run user code of the Worker. */
  enterWorker?: <T>(run: () => T) => T;
  /** Runs the callback of an attempt, or something in its place. What is code runs in `track`: time stands meanwhile. */
  interceptAttempt?: (attempt: StepAttempt, track: (code: () => unknown) => unknown) => unknown;
};

/** What all capabilities of one world share. Each is made with it before any actor has started. */
export class WorldHost {
  readonly options: ResolvedOptions;
  /** The simulation underneath: its actors, their storage and their clock. */
  readonly world: World;
  readonly hooks: WorldHooks = {};
  /** Which user code runs. */
  readonly codes: RunningCodes;
  readonly clock: VirtualTime;
  readonly time: ReturnType<typeof workerTime>;
  /** Loaded, so that a client never waits for code. */
  readonly codecs: Readonly<Record<Encoding, ClientCodec>>;
  readonly #objects: ReturnType<typeof namespaceOf>;
  #worker: RegistryWorker;
  readonly #endings: (() => unknown)[] = [];
  readonly #unfollow: () => void;
  #ended: Promise<void> | undefined;

  private constructor(registry: Registry, options: ResolvedOptions, codecs: Readonly<Record<Encoding, ClientCodec>>) {
    const { onLog, startAt } = options;
    this.options = options;
    this.codecs = codecs;
    const clock = new ManualClock(startAt);
    this.codes = new RunningCodes(() => this.clock.changed());
    this.world = new World(registry, {
      nextTurn: (run) => this.clock.nextTurn(run),
      clock,
      userCode: (process) => this.codes.watch(process),
      enter: (process, run) => {
        const { enter } = this.hooks;
        return this.codes.enter(process, enter ? () => enter(process, run) : run);
      },
      createClient: (process, beforeCall, ends, effects, chain) =>
        this.#clientInside(ofProcess(this.#objects, process), { beforeCall, ends, effects, chain }),
      onLog: (level, entry) => {
        this.hooks.onLog?.(level, entry);
        onLog?.(level, entry);
      },
      env: options.env,
      evictAtPark: options.evictAtPark,
      openDatabase: () => openNodeDatabase(),
      interceptAttempt: (attempt) => {
        const track = (code: () => unknown): unknown => this.codes.attempt(attempt, code);
        const { interceptAttempt } = this.hooks;
        return interceptAttempt ? interceptAttempt(attempt, track) : track(() => attempt.run());
      },
      fault: (actor, commit) => this.hooks.fault?.(actor, commit),
      portFault: (actor, port) => this.hooks.portFault?.(actor, port) ?? false,
      deleteFault: (actor) => this.hooks.deleteFault?.(actor),
      onCommit: (actor, rows, alarmAt) => this.hooks.onCommit?.(actor, rows, alarmAt),
      onDurable: (actor, rows, alarmAt) => this.hooks.onDurable?.(actor, rows, alarmAt),
      onLeft: (actor) => {
        this.codes.processEnded(actor);
        this.hooks.onLeft?.(actor);
      },
    });
    this.clock = new VirtualTime(this.world, this.codes, options.skipTime);
    this.#unfollow = followRealWork();
    this.time = workerTime(this.world.clock);
    this.#objects = namespaceOf(this.world);
    this.#worker = this.#workerOf(registry);
  }

  static async start(given: Registry, chosen: TestWorldOptions | undefined): Promise<WorldHost> {
    const registry = checkRegistry("testWorld()", given);
    const options = readWorldOptions(chosen);
    const codecs = { json: codecOf("json"), cbor: codecOf("cbor"), bare: codecOf("bare") };
    await Promise.all([...Object.values(codecs).map((codec) => codec.load()), encodeClientInput(null)]);
    return new WorldHost(registry, options, codecs);
  }

  /** @throws TypeError when the world has ended */
  checkOpen(method: string): void {
    if (this.#ended) throw new TypeError(`world.${method}: this world has ended; make another with testWorld()`);
  }

  /** The object of an actor. @throws TypeError when it is no actor of this world */
  actorOf(target: ActorTarget): WorldActor {
    return actorOf(this.world, target);
  }

  /** Answers a request from outside, as the Worker would. */
  async answer(request: Request): Promise<Response> {
    this.checkOpen("client");
    const route = (): Promise<Response | undefined> => this.#worker.router(request, this.#objects, this.options.env);
    const response = await (this.hooks.enterWorker ? this.hooks.enterWorker(route) : route());
    return response ?? new Response("Not found", { status: 404 });
  }

  /** The same for an upgrade, whose answer the client does not await. */
  opening(upgrade: Request): Promise<Response> {
    return this.clock.during(this.codes.call("the opening of a socket", () => this.answer(upgrade)));
  }

  /** A client of the test's: while a call of it waits, time may skip. */
  clientOutside(transport: ActorTransport): unknown {
    const watch: WatchCall = (what, call) =>
      this.codes.masked.calling(async () => {
        this.checkOpen("client");
        return this.clock.during(this.codes.call(what, call));
      });
    const callOver: WatchCall = (what, call) => watch(what, () => this.hooks.callOver?.(call) ?? call());
    return createClientWithTransport(watchedTransport(transport, watch), { ports: this.time, callOver });
  }

  /** A client of user code, which does not run while it waits for an answer. */
  #clientInside(objects: ActorNamespace, uses: ClientUses): unknown {
    const { ends = [], effects = this.hooks.clientEffects } = uses;
    const watch: WatchCall = (_, call) => this.awaited(call);
    const transport = watchedTransport(this.#worker.transport(objects, uses), watch);
    return createClientWithTransport(transport, { ends, effects, ports: this.time, callOver: watch });
  }

  /**
   * Begins something that user code awaits and does not do itself: time may pass meanwhile, unless a timer, or a read of a
   * file, has begun in it.
   */
  awaited<T>(begin: () => Promise<T>): Promise<T> {
    return this.codes.waitFor(begin);
  }

  /** Begins something real, such as a request that leaves: time stands until it ends, also where the code waits beside it. */
  working<T>(begin: () => Promise<T>): Promise<T> {
    return this.codes.work(begin);
  }

  /** Other code from now on, over the same storage. */
  deploy(given: Registry): void {
    const registry = checkRegistry("world.redeploy()", given);
    this.world.deploy(registry);
    this.#worker = this.#workerOf(registry);
  }

  /** Runs at the world's end, in the order of the calls; the first error is that of the end. */
  onEnd(run: () => unknown): void {
    this.#endings.push(run);
  }

  end(): Promise<void> {
    // What it has told is not told again.
    if (this.#ended) return this.#ended.catch(() => {});
    return (this.#ended = this.#end());
  }

  async #end(): Promise<void> {
    const failures: unknown[] = [];
    for (const run of this.#endings) {
      try {
        await run();
      } catch (error) {
        failures.push(error);
      }
    }
    this.clock.end();
    for (const actor of this.world.actors) actor.crash();
    this.#unfollow();
    if (failures.length > 0) throw failures[0];
  }

  #workerOf(registry: Registry): RegistryWorker {
    const log = { warn: () => {}, error: () => {} };
    return createRegistryWorker(registry, {
      log: log as never,
      ports: this.time,
      connectionPorts: this.time,
      sockets: socketsOf((run) => this.clock.nextTurn(run)),
    });
  }
}
