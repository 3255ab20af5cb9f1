/**
 * The module `cloudflare:workers`, in Node: what a Worker's files import of it when they are loaded, and `env`. What only the
 * platform can do says so when it is used.
 */
import { currentEnv, currentPlace, inPlace } from "../surroundings/place.js";

/** The world's `env` for code of a world; else what `testEnv()` has set. */
export const env: object = new Proxy(
  {},
  {
    get: (_, name) => Reflect.get(currentEnv(), name),
    has: (_, name) => Reflect.has(currentEnv(), name),
    set: (_, name, value) => Reflect.set(currentEnv(), name, value),
    deleteProperty: (_, name) => Reflect.deleteProperty(currentEnv(), name),
    ownKeys: () => Reflect.ownKeys(currentEnv()),
    getOwnPropertyDescriptor(_, name) {
      const found = Reflect.getOwnPropertyDescriptor(currentEnv(), name);
      return found && { ...found, configurable: true };
    },
  },
);

/** What classes of the platform have: they keep what they are made with. */
class Entrypoint {
  protected readonly ctx: unknown;
  protected readonly env: unknown;

  constructor(ctx: unknown, givenEnv: unknown) {
    this.ctx = ctx;
    this.env = givenEnv;
  }
}

export class DurableObject extends Entrypoint {}
export class WorkerEntrypoint extends Entrypoint {}
export class WorkflowEntrypoint extends Entrypoint {}
export class RpcTarget {}
export class WorkflowStep {}

export class RpcStub {
  constructor() {
    throw onlyThere("RpcStub");
  }
}

/** The work goes on by itself; a rejection is nobody's. */
export function waitUntil(promise: Promise<unknown>): void {
  promise.catch(() => {});
}

/** Runs a function, and all that it begins, with another `env`. */
export function withEnv<T>(newEnv: object, run: () => T): T {
  const place = currentPlace() ?? { process: undefined, now: () => undefined, fetch: undefined };
  return inPlace({ ...place, env: newEnv }, run);
}

/** There are no loopback bindings here. */
export const exports: object = {};

export function withExports<T>(_exports: object, run: () => T): T {
  return run();
}

export function withEnvAndExports<T>(newEnv: object, _exports: object, run: () => T): T {
  return withEnv(newEnv, run);
}

export const cache = {
  purge: (): Promise<never> => Promise.reject(onlyThere("cache.purge()")),
  invalidate: (): Promise<never> => Promise.reject(onlyThere("cache.invalidate()")),
};

const span = { isTraced: false, setAttribute: (): void => {}, end: (): void => {} };
/** Traces nothing. */
export const tracing = {
  enterSpan: withSpan,
  startActiveSpan: withSpan,
  startSpan: (): typeof span => span,
  getActiveSpan: (): undefined => undefined,
  withActiveSpan: <T>(_span: unknown, run: () => T): T => run(),
};

function withSpan<T>(_name: string, run: (...args: unknown[]) => T, ...args: unknown[]): T {
  return Reflect.apply(run, undefined, [span as unknown].concat(args));
}

function onlyThere(what: string): Error {
  return new Error(`${what} of cloudflare:workers exists in the Workers runtime alone; this is Node`);
}
