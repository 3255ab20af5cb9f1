import { AsyncLocalStorage } from "node:async_hooks";
import type { ActorProcess } from "../../testing/index.js";

/** What code of a world finds around it. */
export interface Place {
  /** The process that it is of; undefined for code of the world's Worker, and of the doubles that answer it. */
  readonly process: ActorProcess | undefined;
  /** What `env` of `cloudflare:workers` is. */
  readonly env: object;
  /** Epoch ms; undefined: the time of the machine. */
  now(): number | undefined;
  /** Answers an outbound request; undefined: it goes out. */
  readonly fetch: ((request: Request, process: ActorProcess | undefined) => Promise<Response>) | undefined;
}

interface Shared {
  readonly places: AsyncLocalStorage<Place | undefined>;
  /** `env` outside of every place. */
  env: object;
}

/**
 * One for all copies of this module: a test runner that transforms modules may load one itself, while Node loads another for
 * what it does not transform.
 */
const KEY = Symbol.for("perdure.testing.surroundings");
const holder = globalThis as { [KEY]?: Shared };
const shared: Shared = (holder[KEY] ??= { places: new AsyncLocalStorage(), env: {} });

/** Where the code that runs now is; undefined for code of the test. It keeps its place over every `await`. */
export function currentPlace(): Place | undefined {
  return shared.places.getStore();
}

/** Runs code in a place; with undefined, as code of the test. */
export function inPlace<T>(place: Place | undefined, run: () => T): T {
  return shared.places.run(place, run);
}

/** `env` of `cloudflare:workers`, for code that runs now. */
export function currentEnv(): object {
  return currentPlace()?.env ?? shared.env;
}

/**
 * Sets what `env` of `cloudflare:workers` is outside of every world: while modules are loaded, and in code of the test. Inside
 * it is that of the world.
 *
 * @example
 *     testEnv({ PERDURE_HOSTS: "loopback" }); // before the file that calls createHandler() is loaded
 * @throws TypeError when it is no object
 */
export function testEnv(env: object): void {
  if (typeof env !== "object" || env === null) throw new TypeError("testEnv(): env must be an object");
  shared.env = env;
}
