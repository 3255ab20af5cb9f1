/** One object of a world: how it is called, crashes, leaves memory and is woken. */
import {
  ObjectEvents,
  type ActorPorts,
  type ObjectInspector,
  type Registry,
  type UserCodeWatch,
} from "../actor/index.js";
import {
  decodeValue,
  encodeValue,
  ENVELOPE_VERSION,
  type ActionCall,
  fromErrorData,
  own,
  ownField,
  type CallEnvelope,
  type CallLink,
  type Creation,
  type Encoding,
  type CallOperation,
  type ReplyEnvelope,
} from "../protocol/index.js";
import { AlarmDelivery } from "./alarm-delivery.js";
import type { ManualClock } from "./manual-clock.js";
import { MemorySocket } from "./memory-socket.js";
import type { SqliteDatabase } from "./memory-sql.js";
import { MemoryStore, type CommitFault } from "./memory-store.js";
import { newDeath } from "./process-death.js";
import { ReplySockets } from "./reply-sockets.js";
import { holdsLease } from "./stored-lease.js";
import { worldPorts } from "./world-ports.js";

/** One life of an object in memory. */
export interface ActorProcess {
  readonly actor: WorldActor;
  /** False once it has died or left memory: its code may run on here, as it cannot on the platform. */
  isAlive(): boolean;
}

export interface WorldOptions extends Pick<
  ActorPorts,
  "upgrades" | "newestFormat" | "interceptAttempt" | "evictAtPark"
> {
  /** Runs a function in the next turn of the event loop (`setImmediate` in Node). */
  readonly nextTurn: (run: () => void) => void;
  readonly clock?: ManualClock;
  /** Makes what `c.client()` gives, for one process of an object. Default: a small client of the world's own. */
  readonly createClient?: (
    process: ActorProcess,
    ...use: Parameters<ActorPorts["createClient"]>
  ) => ReturnType<ActorPorts["createClient"]>;
  /** Shows every actor to operators. Default: they are refused. */
  readonly inspector?: ObjectInspector;
  /** What `c.env` is in every actor. Default: an object without members. */
  readonly env?: object;
  /** Follows the user code of each process. */
  readonly userCode?: (process: ActorProcess) => UserCodeWatch;
  /** Receives every log line. */
  readonly onLog?: (level: string, entry: unknown) => void;
  /**
   * Called with everything that may run user code of a process, to run it: events, alarms, timers. Whatever follows an
   * `await` in it is not told again.
   */
  readonly enter?: <T>(process: ActorProcess, run: () => T) => T;
  /** Asked at each commit of each actor. */
  readonly fault?: (actor: WorldActor, commit: number) => ReturnType<CommitFault>;
  /** Asked at each call of a port of each actor; true: its process dies there. */
  readonly portFault?: (actor: WorldActor, port: string) => boolean;
  /** Asked when an actor's rows are all to be deleted. */
  readonly deleteFault?: (actor: WorldActor) => ReturnType<CommitFault>;
  /** Sees what every commit of every actor leaves behind. */
  readonly onCommit?: (actor: WorldActor, rows: ReadonlyMap<string, Uint8Array>, alarmAt: number | null) => void;
  /** An object has left memory: its process died, or it was evicted. */
  readonly onLeft?: (actor: WorldActor) => void;
  /** Makes an empty database for an actor's SQL: `() => new DatabaseSync(":memory:")` of `node:sqlite`; needed by actors with `db`. */
  readonly openDatabase?: () => SqliteDatabase;
  /** Sees what of it has become durable, at the end of each turn that wrote. */
  readonly onDurable?: (actor: WorldActor, rows: ReadonlyMap<string, Uint8Array>, alarmAt: number | null) => void;
}

/** What an object sees of its world. */
export interface Surroundings {
  readonly registry: Registry;
  readonly clock: ManualClock;
  readonly options: WorldOptions;
  /** Ends with the turn of the event loop. */
  turn(): Promise<void>;
  /** The object behind a key. */
  actor(name: string, key: readonly string[]): WorldActor;
}

/** One object of the world: its store outlives every crash, its host does not. */
export class WorldActor {
  readonly store: MemoryStore;
  readonly name: string;
  readonly key: readonly string[];
  /** The platform's id of the object, 64 hex digits. */
  readonly objectId: string;
  readonly #world: Surroundings;
  #host: ObjectEvents | undefined;
  #process: ActorProcess | undefined;
  #timers = new Set<() => void>();
  /** Events of this process that have not ended. */
  #serving = new Set<object>();
  #random = 0;
  #death = newDeath();
  crashes = 0;
  /** Sockets that were let in; the process's death ends them. */
  readonly sockets = new Set<MemorySocket>();
  /** What was said over them and is not served yet. */
  readonly #answers = new Set<{ readonly socket: MemorySocket }>();
  /** Those of senders who wait for a reply: no connections. */
  readonly replySockets = new ReplySockets(() => this.store.outputGate());
  readonly #alarm: AlarmDelivery;

  constructor(world: Surroundings, name: string, key: readonly string[], index: number) {
    this.#world = world;
    this.name = name;
    this.key = key;
    this.objectId = index.toString(16).padStart(64, "0");
    this.store = new MemoryStore({
      nextTurn: world.options.nextTurn,
      openDatabase: world.options.openDatabase,
      fault: (commit) => world.options.fault?.(this, commit),
      deleteFault: () => world.options.deleteFault?.(this),
      onCommit: (rows, alarmAt) => world.options.onCommit?.(this, rows, alarmAt),
      onDurable: (rows, alarmAt) => world.options.onDurable?.(this, rows, alarmAt),
      onCrash: () => this.#died(),
    });
    this.#alarm = new AlarmDelivery(this.store, () => world.clock.now());
  }

  /** The time of its world, epoch ms. */
  now(): number {
    return this.#world.clock.now();
  }

  get timersHeld(): number {
    return this.#timers.size;
  }

  /** True when a start of the actor would find that work was cut off, as it is stored. */
  get holdsLease(): boolean {
    return holdsLease(this.store.dump(), this.store.alarmAt, this.#world.clock.now());
  }

  /** Whether it has not answered everything that its process was asked: the platform leaves it in memory meanwhile. */
  get isServing(): boolean {
    return this.#serving.size > 0;
  }

  /** When the alarm that is stored will be delivered, epoch ms. */
  get alarmComesAt(): number | null {
    return this.#alarm.comesAt;
  }

  get alarmIsDue(): boolean {
    return this.alarmComesAt !== null && this.alarmComesAt <= this.#world.clock.now();
  }

  /** How many alarms the platform has dropped because none of their runs came to an end. */
  get alarmsDropped(): number {
    return this.#alarm.dropped;
  }

  /** How late the platform delivers alarms, ms. */
  get alarmDelayMs(): number {
    return this.#alarm.delayMs;
  }
  set alarmDelayMs(delayMs: number) {
    this.#alarm.delayMs = delayMs;
  }

  /** The process of this object dies, at this instruction. */
  crash(): void {
    this.store.crash();
  }

  /** The object is thrown out of memory, as in hibernation: what was written stays written, sockets stay open. */
  async evict(): Promise<void> {
    await this.store.outputGate();
    this.#leaveMemory();
    // Whoever waits for an answer over a socket would wait for good.
    for (const { socket } of this.#answers) {
      this.sockets.delete(socket);
      socket.die();
    }
    this.#answers.clear();
    // What still runs of it here reaches no storage, as it would not run on the platform.
    this.store.activate();
  }

  /**
   * Opens a socket as a client would; the reply says whether the actor let it in. It speaks JSON unless told otherwise;
   * `raw`: it is one for `onWebSocket`.
   */
  async connect(
    options: {
      readonly params?: unknown;
      readonly encoding?: Encoding;
      readonly raw?: boolean;
      readonly pings?: boolean;
      readonly mode?: "get" | "getOrCreate";
    } = {},
  ): Promise<MemorySocket> {
    const { encoding = "json", mode = "getOrCreate", raw = false, pings = false, params } = own(options);
    const envelope = this.#envelope(
      { mode },
      { kind: "connect", encoding, extended: true, ...(raw && { raw }), ...(pings && { pings }) },
      params,
    );
    const { socket, ...reply } = await this.openSocket(envelope, raw ? "raw" : encoding);
    if (!reply.ok) throw fromErrorData(reply.error, reply.status);
    return socket;
  }

  /** The same for the Worker. `read`: how the client's end reads the frames that it receives. */
  async openSocket(
    envelope: CallEnvelope,
    read: Encoding | "raw",
  ): Promise<ReplyEnvelope & { readonly socket: MemorySocket }> {
    const outputGate = (): Promise<void> => this.store.outputGate();
    const socket = new MemorySocket(read, {
      outputGate,
      message: (from, frame) =>
        this.#answering(from, () => this.#inProcess((host) => host.socketMessage(from, frame)).then(outputGate)),
      closed: (from, end) => this.#inProcess((host) => host.socketClosed(from, end)).then(outputGate),
    });
    const reply = await this.#visible((host) => host.connect(envelope, () => this.sockets.add(socket) && socket));
    return { ...reply, socket };
  }

  /** Lets a sender wait for a reply through a socket, as the Worker does: its one frame is the result. */
  async awaitReply(envelope: CallEnvelope): Promise<ReplyEnvelope & { readonly socket: MemorySocket | undefined }> {
    let socket: MemorySocket | undefined;
    const reply = await this.#visible((host) =>
      host.awaitReply(envelope, (token) => (socket = this.replySockets.add(token))),
    );
    return { ...reply, socket };
  }

  /** Calls an action as a client would; the reply is seen only once what caused it is durable. */
  async call(action: string, ...args: unknown[]): Promise<unknown> {
    const reply = await this.send({ mode: "getOrCreate" }, { kind: "action", name: action, args: encodeValue(args) });
    if (!reply.ok) throw fromErrorData(reply.error, reply.status);
    return reply.output && decodeValue(reply.output);
  }

  /** Sends a raw request as a client would; the path is what `onRequest` sees. */
  async fetch(
    path: string,
    init: RequestInit = {},
    options: { readonly params?: unknown; readonly mode?: "get" | "getOrCreate" } = {},
  ): Promise<Response> {
    const envelope = this.#envelope(
      { mode: ownField(options, "mode") ?? "getOrCreate" },
      { kind: "request" },
      ownField(options, "params"),
    );
    const reply = await this.deliverRequest(envelope, new Request(`http://actor${path}`, init));
    if (!reply.ok) throw fromErrorData(reply.error, reply.status);
    return reply.response;
  }

  send(creation: Creation, operation: CallOperation): Promise<ReplyEnvelope> {
    return this.deliver(this.#envelope(creation, operation));
  }

  /** The same of code of the same Worker, for which these wait. */
  sendInside(creation: Creation, operation: CallOperation, chain: readonly CallLink[]): Promise<ReplyEnvelope> {
    return this.deliver({ ...this.#envelope(creation, operation), internal: true, ...(chain.length > 0 && { chain }) });
  }

  /** Delivers a call of the Worker's; the reply is seen only once what caused it is durable. */
  deliver(sent: CallEnvelope | ActionCall): Promise<ReplyEnvelope> {
    return this.#visible((host) => host.call(sent));
  }

  /** The same for a raw request. */
  deliverRequest(envelope: CallEnvelope, request: Request): ReturnType<ObjectEvents["request"]> {
    return this.#visible((host) => host.request(envelope, request));
  }

  /** Delivers the alarm that is stored, or one that comes for nothing. */
  fireAlarm(): Promise<void> {
    const host = this.#live();
    return this.#alarm.deliver(
      (alarm) => this.#inProcess(() => host.alarm(alarm)),
      () => host === this.#host,
      this.died(),
    );
  }

  /** Resolves when the object leaves memory the next time, in whatever way: calls in flight then never settle by themselves. */
  died(): Promise<void> {
    return this.#death.promise;
  }

  #envelope(creation: Creation, operation: CallOperation, params?: unknown): CallEnvelope {
    const address = { name: this.name, key: this.key };
    return {
      v: ENVELOPE_VERSION,
      address,
      creation,
      operation,
      ...(params !== undefined && { params: encodeValue(params) }),
    };
  }

  /** Delivers an event; its outcome is seen only once what caused it is durable. */
  async #visible<T>(event: (host: ObjectEvents) => Promise<T>): Promise<T> {
    // No event of an object is delivered while a transaction of its SQL is open.
    for (let end = this.store.transactionsEnd(); end; end = this.store.transactionsEnd()) await end;
    const host = this.#live();
    const outcome = await this.#inProcess(event);
    await this.store.outputGate();
    if (host !== this.#host)
      throw fromErrorData({ group: "actor", code: "restarting", message: "The object died" }, 503);
    return outcome;
  }

  async #answering(socket: MemorySocket, answer: () => Promise<void>): Promise<void> {
    const begun = { socket };
    this.#answers.add(begun);
    await answer().finally(() => this.#answers.delete(begun));
  }

  /** Runs an event in the process that is there, or in a new one. */
  #inProcess<T>(event: (host: ObjectEvents) => Promise<T>): Promise<T> {
    const host = this.#live();
    const { enter } = this.#world.options;
    const outcome = enter && this.#process ? enter(this.#process, () => event(host)) : event(host);
    const serving = this.#serving;
    serving.add(outcome);
    const end = (): unknown => serving.delete(outcome);
    outcome.then(end, end);
    return outcome;
  }

  #live(): ObjectEvents {
    if (this.#host) return this.#host;
    const timers = this.#timers;
    this.#process = { actor: this, isAlive: () => timers === this.#timers };
    this.#host = new ObjectEvents(this.#world.registry, this.#ports(this.#process), this.#world.options.inspector);
    return this.#host;
  }

  #leaveMemory(): void {
    this.#host = undefined;
    this.#world.options.onLeft?.(this);
    this.#serving = new Set();
    for (const cancel of this.#timers) cancel();
    this.#timers = new Set();
    const { resolve } = this.#death;
    this.#death = newDeath();
    resolve();
  }

  #died(): void {
    this.crashes += 1;
    this.#leaveMemory();
    for (const socket of this.sockets) socket.die();
    this.sockets.clear();
    this.replySockets.die();
  }

  #ports(process: ActorProcess): ActorPorts {
    const { options } = this.#world;
    const ports = worldPorts(this.#world, {
      objectId: this.objectId,
      store: this.store,
      sockets: this.sockets,
      replySockets: this.replySockets,
      timers: this.#timers,
      isAlive: process.isAlive,
      createClient: options.createClient && ((...use) => options.createClient?.(process, ...use)),
      enter: (run) => (options.enter ? options.enter(process, run) : run()),
      diesAt: (port) => options.portFault?.(this, port) ?? false,
      nextRandom: () => (this.#random += 1),
    });
    return options.userCode ? { ...ports, userCode: options.userCode(process) } : ports;
  }
}
