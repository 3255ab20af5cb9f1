/** What the platform does for an actor, done by a world. */
import type { ActorPorts } from "../actor/index.js";
import type { CallLink, CallOperation, Creation, ReplyEnvelope } from "../protocol/index.js";
import { logSink } from "./log-sink.js";
import type { ManualClock } from "./manual-clock.js";
import type { MemorySocket } from "./memory-socket.js";
import { CrashError, type MemoryStore } from "./memory-store.js";
import type { ReplySockets } from "./reply-sockets.js";
import { whileItLives } from "./while-alive.js";
import { worldClient } from "./world-client.js";
import { worldTimer } from "./world-timer.js";

/** What an object shares with the others of its world. */
export interface SharedPlatform {
  readonly clock: ManualClock;
  readonly options: Pick<ActorPorts, "upgrades" | "newestFormat" | "interceptAttempt" | "evictAtPark"> & {
    readonly onLog?: (level: string, entry: unknown) => void;
    readonly env?: object;
  };
  turn(): Promise<void>;
  actor(
    name: string,
    key: readonly string[],
  ): {
    sendInside(creation: Creation, operation: CallOperation, chain: readonly CallLink[]): Promise<ReplyEnvelope>;
  };
}

/** One process of an object, and what it finds of the object's. */
export interface ObjectProcess {
  readonly objectId: string;
  readonly store: MemoryStore;
  readonly sockets: ReadonlySet<MemorySocket>;
  readonly replySockets: ReplySockets;
  /** What cancels each timer that the process holds. */
  readonly timers: Set<() => void>;
  /** False once it has died or left memory: its code may run on here, as it cannot on the platform. */
  isAlive(): boolean;
  /** Instead of the world's own small client. */
  readonly createClient: ActorPorts["createClient"] | undefined;
  /** Runs what may run user code of it. */
  enter(run: () => void): void;
  /** Whether a test wants it to die at this call of a port. */
  diesAt(port: string): boolean;
  /** Another number each time, also in the processes to come. */
  nextRandom(): number;
}

export function worldPorts(world: SharedPlatform, process: ObjectProcess): ActorPorts {
  const { clock, options } = world;
  const { store, sockets, replySockets, timers, objectId } = process;
  const passes = (port: string): void => {
    if (process.isAlive() && process.diesAt(port)) store.crashWithTurn();
  };
  return {
    // What runs on of a process that has died reaches no storage.
    store: {
      activate: () => {
        if (!process.isAlive()) throw new CrashError("The process died");
        return store.activate();
      },
    },
    log: logSink((level, entry) => {
      if (process.isAlive()) options.onLog?.(level, entry);
    }),
    now: () => {
      passes("now");
      return clock.now();
    },
    createTimer: () => worldTimer(clock, timers, () => passes("timer"), process),
    yield: () => {
      passes("yield");
      return world.turn();
    },
    randomHex: (bytes) =>
      process
        .nextRandom()
        .toString(16)
        .padStart(bytes * 2, "0"),
    objectId,
    region: "test",
    env: options.env ?? {},
    abort: () => {
      if (process.isAlive()) store.crash();
    },
    waitUntil: (promise) => {
      passes("waitUntil");
      promise.catch(() => {});
    },
    sockets: () => [...sockets].filter((socket) => socket.isOpen),
    replySockets: (token) => replySockets.of(token),
    createClient: (beforeCall, ends, effects, chain) =>
      process.createClient?.(whileItLives(process.isAlive, beforeCall), ends, effects, chain) ??
      worldClient(
        (name, key, creation, operation) => world.actor(name, key).sendInside(creation, operation, chain?.() ?? []),
        beforeCall,
        effects,
        process.isAlive,
      ),
    ...(options.upgrades ? { upgrades: options.upgrades } : {}),
    ...(options.interceptAttempt ? { interceptAttempt: options.interceptAttempt } : {}),
    ...(options.evictAtPark === undefined ? {} : { evictAtPark: options.evictAtPark }),
    ...(options.newestFormat === undefined ? {} : { newestFormat: options.newestFormat }),
  };
}
