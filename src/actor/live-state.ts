/**
 * An actor's state as one live object.
 *
 * Owns: the current value, whether it differs from what is stored, the proxies through which user code sees it.
 * Invariants: every assigned value is checked where it is assigned (C8); a view whose guard throws is dead, with every
 * object got from it; what is encoded is what the views show.
 */
import { ActorError, checkValue, decodeValue, encodeValue } from "../protocol/index.js";
import { reconcile } from "./reconcile.js";

/** Proxy → what it stands for. Holds no promises and nothing of user code alive. */
const targets = new WeakMap<object, object>();
/** Members of Map, Set and Date that change nothing; whatever else may, also what a newer engine brings. */
const READERS = /^(get(?!OrInsert)|has|keys|values|entries|forEach|union|intersection|difference|symmetricDifference|is|to|valueOf|Symbol\()/;

/** Whose state: what errors call it, and how large its encoding may be. */
export interface StateKind {
  readonly what: string;
  readonly limitBytes?: number;
}
const ACTOR_STATE: StateKind = { what: "state" };

export class LiveState {
  #root: unknown;
  #version = 0;
  #storedVersion = 0;
  #stored: Uint8Array | undefined;
  #encoded: { version: number; bytes: Uint8Array<ArrayBuffer> } | undefined;
  /** Typed arrays were handed out: they change without telling, so every commit compares. */
  #suspect = false;
  readonly #onDirty: () => void;
  readonly #kind: StateKind;
  #restores = 0;
  #fault: unknown;
  #isLocked = false;

  /** `stored` is the last committed encoding; absent for a new one. `onDirty` runs at the first change after a commit. */
  constructor(root: unknown, stored: Uint8Array | undefined, onDirty: () => void, kind: StateKind = ACTOR_STATE) {
    this.#root = root;
    this.#stored = stored;
    this.#onDirty = onDirty;
    this.#kind = kind;
    if (!stored) this.#version = 1;
  }

  /**
   * How user code sees the value; `guard` runs at each access and may throw. Same object, same proxy. Through a view that
   * is only read, every change is refused.
   */
  createView(guard: () => void = () => {}, isReadOnly = false): StateView {
    return new StateView(this, guard, isReadOnly);
  }

  /** True if there may be something to commit. */
  get isChanged(): boolean {
    return this.#suspect || this.#version !== this.#storedVersion;
  }

  /** Runs code that may change nothing, through whatever view. */
  whileLocked<T>(run: () => T): T {
    this.#isLocked = true;
    try {
      return run();
    } finally {
      this.#isLocked = false;
    }
  }

  /** @throws actor/state_mutation_reentrant */
  checkWritable(isReadOnly: boolean): void {
    if (!isReadOnly && !this.#isLocked) return;
    throw new ActorError("actor", "state_mutation_reentrant", "`onStateChange` may not change the state that it is told of");
  }

  /** Another one after each change; never the same twice once typed arrays were handed out. */
  get version(): number {
    if (this.#suspect) this.#version += 1;
    return this.#version;
  }

  get what(): string {
    return this.#kind.what;
  }

  get root(): unknown {
    return this.#root;
  }

  replace(value: unknown): void {
    const raw = unwrap(value);
    checkValue(raw, this.#kind.what);
    this.#root = raw;
    this.touch();
  }

  touch(): void {
    const wasClean = this.#version === this.#storedVersion;
    this.#version += 1;
    if (wasClean) this.#onDirty();
  }

  suspect(): void {
    this.#suspect = true;
  }

  /** How often the state was put back; a callback that began at another number may have lost what it changed. */
  get restores(): number {
    return this.#restores;
  }

  /**
   * For the end of a callback that began when `restores` was at `begun`: measures what it changed.
   * @throws value/not_serializable, value/too_large, also when another callback's change was the one; then the state is
   * as it was last stored, and objects got from it stay part of it
   */
  checkChanges(begun = this.#restores): void {
    try {
      this.encodeChanges();
    } catch (error) {
      this.#restore();
      this.#fault = error;
      throw error;
    }
    if (begun !== this.#restores) throw this.#fault;
  }

  /** For the end of a callback that has an error of its own to tell. */
  putBackUnstorable(): void {
    try {
      this.checkChanges();
    } catch {
      // Put back; whoever else runs meanwhile is told by `checkChanges`.
    }
  }

  /** The encoding to store, or undefined when nothing changed. @throws value/not_serializable, value/too_large */
  encodeChanges(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#version === this.#storedVersion && !this.#suspect) return undefined;
    let bytes = this.#encoded?.version === this.#version && !this.#suspect ? this.#encoded.bytes : undefined;
    if (!bytes) {
      bytes = encodeValue(this.#root, this.#kind);
      this.#encoded = { version: this.#version, bytes };
    }
    return this.#stored && equalBytes(bytes, this.#stored) ? undefined : bytes;
  }

  /** What `encodeChanges` gave has been committed (or nothing had changed). */
  committed(bytes: Uint8Array | undefined): void {
    this.#storedVersion = this.#version;
    this.#encoded = undefined;
    if (bytes) this.#stored = bytes;
  }

  #restore(): void {
    if (!this.#stored) return;
    this.#restores += 1;
    this.#root = reconcile(this.#root, decodeValue(this.#stored));
    this.#version += 1;
    this.#storedVersion = this.#version;
    this.#encoded = undefined;
  }
}

/** One way of looking at the state. */
export class StateView {
  readonly #state: LiveState;
  readonly #guard: () => void;
  readonly #isReadOnly: boolean;
  readonly #proxies = new WeakMap<object, object>();

  constructor(state: LiveState, guard: () => void, isReadOnly: boolean) {
    this.#state = state;
    this.#guard = guard;
    this.#isReadOnly = isReadOnly;
  }

  get value(): unknown {
    this.#guard();
    return this.#wrap(this.#state.root, this.#state.what);
  }

  set value(next: unknown) {
    this.#guardWrite();
    this.#state.replace(next);
  }

  #guardWrite(): void {
    this.#guard();
    this.#state.checkWritable(this.#isReadOnly);
  }

  #wrap(value: unknown, path: string): unknown {
    if (typeof value !== "object" || value === null) return value;
    const known = this.#proxies.get(value);
    if (known) return known;
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Error || value instanceof RegExp) {
      this.#state.suspect();
      return value;
    }
    const proxy = new Proxy(value, value instanceof Map || value instanceof Set || value instanceof Date ? this.#exotic(path) : this.#plain(path));
    this.#proxies.set(value, proxy);
    targets.set(proxy, value);
    return proxy;
  }

  #plain(path: string): ProxyHandler<object> {
    const write = (target: object, key: string | symbol, value: unknown): boolean => {
      this.#guardWrite();
      const raw = this.#checked(key, value, childPath(path, key, target));
      if (Object.is((target as Record<PropertyKey, unknown>)[key], raw) && Object.hasOwn(target, key)) return true;
      const done = Reflect.defineProperty(target, key, descriptorFor(target, key, raw));
      this.#state.touch();
      return done;
    };
    return {
      get: (target, key) => {
        this.#guard();
        const value: unknown = Reflect.get(target, key);
        return typeof value === "function" && !Object.hasOwn(target, key) ? value : this.#wrap(value, childPath(path, key, target));
      },
      set: write,
      defineProperty: (target, key, descriptor) => {
        if (descriptor.get || descriptor.set) {
          throw new ActorError("value", "not_serializable", `Value at ${childPath(path, key, target)} is not serializable: accessor property`);
        }
        return write(target, key, descriptor.value);
      },
      deleteProperty: (target, key) => {
        this.#guardWrite();
        if (!Object.hasOwn(target, key)) return true;
        this.#state.touch();
        return Reflect.deleteProperty(target, key);
      },
      ownKeys: (target) => {
        this.#guard();
        return Reflect.ownKeys(target);
      },
      has: (target, key) => {
        this.#guard();
        return Reflect.has(target, key);
      },
      getOwnPropertyDescriptor: (target, key) => {
        this.#guard();
        const descriptor = Reflect.getOwnPropertyDescriptor(target, key);
        return descriptor?.configurable ? { ...descriptor, value: this.#wrap(descriptor.value, childPath(path, key, target)) } : descriptor;
      },
      setPrototypeOf: () => false,
      preventExtensions: () => false,
    };
  }

  /** Map, Set and Date: methods run on the value itself; what they take is checked, what they give is wrapped. */
  #exotic(path: string): ProxyHandler<object> {
    return {
      get: (target, key) => {
        this.#guard();
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== "function") return member;
        // `new Date(view)` asks for a text, and the usual one has no milliseconds.
        if (target instanceof Date && key === Symbol.toPrimitive) return (hint: string) => (hint === "default" ? target.toJSON() : target[Symbol.toPrimitive](hint));
        const name = String(key);
        return (...given: unknown[]): unknown => {
          if (READERS.test(name)) this.#guard();
          else this.#guardWrite();
          const isDate = target instanceof Date;
          const result: unknown = Reflect.apply(member as Callback, target, isDate ? given : given.map((each) => this.#argument(name, each, path)));
          if (!READERS.test(name)) this.#state.touch();
          if (isDate) return result;
          if (result === target) return this.#wrap(target, path);
          if (!isIterator(result)) return this.#wrap(result, path);
          return this.#wrapIterator(result, name === "entries" || (target instanceof Map && key === Symbol.iterator), path);
        };
      },
      set: () => false,
      setPrototypeOf: () => false,
    };
  }

  /** What user code hands to a method of a Map or Set: a value to keep, or a function that sees values. */
  #argument(method: string, given: unknown, path: string): unknown {
    if (typeof given !== "function" || (method !== "forEach" && method !== "getOrInsertComputed")) {
      return KEEPERS.test(method) ? this.#checked(undefined, given, path) : unwrap(given);
    }
    return (...args: unknown[]): unknown => {
      const result: unknown = (given as Callback)(...args.map((each) => this.#wrap(each, path)));
      return method === "forEach" ? undefined : this.#checked(undefined, result, path);
    };
  }

  /** `pairs`: each is an array made for the occasion, of two parts of the state. */
  *#wrapIterator(iterator: Iterable<unknown>, pairs: boolean, path: string): IterableIterator<unknown> {
    for (const each of iterator) {
      this.#guard();
      yield pairs ? (each as unknown[]).map((part) => this.#wrap(part, path)) : this.#wrap(each, path);
    }
  }

  #checked(key: string | symbol | undefined, value: unknown, path: string): unknown {
    if (typeof key === "symbol") throw new ActorError("value", "not_serializable", `Value at ${path} is not serializable: symbol key`);
    const raw = unwrap(value);
    if (raw !== null && (typeof raw === "object" || typeof raw === "function" || typeof raw === "symbol")) checkValue(raw, path);
    return raw;
  }
}

/** Methods of Map and Set that keep what they are given. */
const KEEPERS = /^(?:set|add|getOrInsert)/;

type Callback = (...args: unknown[]) => unknown;

/**
 * Takes proxies out of a value that user code hands back, so that the state never holds a view of itself; and copies
 * what is frozen in it, since a proxy could not show its parts as views.
 */
function unwrap(value: unknown, seen = new Set<object>()): unknown {
  if (typeof value !== "object" || value === null) return value;
  const target = targets.get(value);
  if (target) return target;
  if (seen.has(value)) return value;
  seen.add(value);
  if (Array.isArray(value)) {
    const raw = value.map((each) => unwrap(each, seen));
    return !Object.isExtensible(value) || raw.some((each, index) => each !== value[index]) ? raw : value;
  }
  if (value instanceof Map) {
    const raw = [...value].map(([key, each]) => [unwrap(key, seen), unwrap(each, seen)] as const);
    return raw.some(([key, each]) => !value.has(key) || value.get(key) !== each) ? new Map(raw) : value;
  }
  if (value instanceof Set) {
    const raw = [...value].map((each) => unwrap(each, seen));
    return raw.some((each) => !value.has(each)) ? new Set(raw) : value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const descriptors = Object.getOwnPropertyDescriptors(value);
  let changed = !Object.isExtensible(value);
  for (const key of Object.keys(descriptors)) {
    const descriptor = descriptors[key];
    if (!descriptor || !("value" in descriptor)) continue;
    const raw = unwrap(descriptor.value, seen);
    if (raw === descriptor.value && descriptor.writable && descriptor.configurable) continue;
    descriptors[key] = { value: raw, writable: true, enumerable: descriptor.enumerable ?? false, configurable: true };
    changed = true;
  }
  return changed ? Object.defineProperties({}, descriptors) : value;
}

function descriptorFor(target: object, key: PropertyKey, value: unknown): PropertyDescriptor {
  // An array's length is not configurable; everything else that user code writes is an ordinary property.
  if (Array.isArray(target) && key === "length") return { value };
  return { value, writable: true, enumerable: true, configurable: true };
}

function childPath(path: string, key: PropertyKey, target: object): string {
  return Array.isArray(target) ? `${path}[${String(key)}]` : `${path}.${String(key)}`;
}

function isIterator(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { next?: unknown }).next === "function" && Symbol.iterator in value;
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}
