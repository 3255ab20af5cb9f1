import type { Logger, Registry } from "../../actor/index.js";
import { World, type WorldActor } from "../../testing/index.js";
import { createRegistryWorker } from "../../worker/index.js";
import { namespaceOf, ofProcess } from "../world/namespace.js";
import { openNodeDatabase } from "../world/node-database.js";
import { socketsOf } from "../world/worker-sockets.js";
import { workerTime } from "../world/worker-time.js";
import { RealClock } from "./real-clock.js";

const { setImmediate } = globalThis;

/** Actors in this process on the clock of the machine, and the Worker in front of them. */
export class RealTimeWorld {
  readonly #clock = new RealClock();
  readonly #world: World;
  readonly #answer: (request: Request) => Promise<Response | undefined>;
  /** What cancels the timer that stands for the alarm of each actor. */
  readonly #alarms = new Map<WorldActor, () => void>();
  #hasEnded = false;

  constructor(registry: Registry, env: object, log: Logger) {
    const nextTurn = (run: () => void): void => void setImmediate(run);
    this.#world = new World(registry, {
      nextTurn,
      clock: this.#clock,
      env,
      onLog: (level, entry) => log[level as "info"](entry as string),
      openDatabase: () => openNodeDatabase(),
      createClient: (process, beforeCall, ends, effects, chain) =>
        worker.client(ofProcess(objects, process), { beforeCall, ends, effects, chain }),
      onDurable: (actor) => this.#armAlarm(actor),
    });
    const objects = namespaceOf(this.#world);
    const time = workerTime(this.#clock);
    const worker = createRegistryWorker(registry, {
      log,
      ports: time,
      connectionPorts: time,
      sockets: socketsOf(nextTurn),
    });
    this.#answer = (request) => worker.router(request, objects, env);
  }

  /** Answers a request from outside, as the Worker would. */
  async answer(request: Request): Promise<Response> {
    return (await this.#answer(request)) ?? new Response("Not found", { status: 404 });
  }

  /** Nothing of it runs on. */
  end(): void {
    this.#hasEnded = true;
    for (const actor of this.#world.actors) actor.crash();
    this.#clock.stop();
  }

  /** Delivers the alarm that stands now at its time, and again after a run that failed. */
  #armAlarm(actor: WorldActor): void {
    this.#alarms.get(actor)?.();
    this.#alarms.delete(actor);
    const at = actor.alarmComesAt;
    if (at === null || this.#hasEnded) return;
    const deliver = (): void => void actor.fireAlarm().then(() => this.#armAlarm(actor));
    this.#alarms.set(actor, this.#clock.setTimer(at, deliver));
  }
}
