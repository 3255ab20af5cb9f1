import { ActorError, checkActorName } from "../protocol/index.js";
import { compileActor, type CompiledActor } from "./compile.js";
import type { ActorDefinitions } from "./types.js";

/** `setup`'s argument. What the peer configures for servers of its own is accepted and ignored. */
export interface RegistryConfig<D extends ActorDefinitions> {
  /** Actor definitions; their keys are the names by which clients reach them. */
  readonly use: D;
  /** Largest body of an action call, bytes; default 65,536. */
  readonly maxIncomingMessageSize?: number;
  /** Largest result that a connection is sent, bytes; default 1,048,576. */
  readonly maxOutgoingMessageSize?: number;
  readonly noWelcome?: boolean;
  readonly logging?: { readonly level?: string; readonly baseLogger?: unknown };
  readonly [ignored: string]: unknown;
}

/** A set of actors. Pure: nothing starts until a Worker serves it (`createHandler` from `perdure/cloudflare`). */
export class Registry<D extends ActorDefinitions = ActorDefinitions> {
  readonly config: RegistryConfig<D>;
  readonly #compiled = new Map<string, CompiledActor>();

  constructor(config: RegistryConfig<D>) {
    if (typeof config?.use !== "object" || config.use === null) throw new TypeError("setup() needs { use: { name: actor({…}) } }");
    this.config = config;
    const limits = {
      ...(config.maxIncomingMessageSize !== undefined && { incoming: config.maxIncomingMessageSize }),
      ...(config.maxOutgoingMessageSize !== undefined && { outgoing: config.maxOutgoingMessageSize }),
    };
    for (const [name, definition] of Object.entries(config.use)) {
      checkActorName(name);
      if (typeof definition?.config !== "object") throw new TypeError(`setup(): "${name}" is not an actor; make it with actor({…})`);
      this.#compiled.set(name, compileActor(name, definition, limits));
    }
  }

  get actorNames(): string[] {
    return [...this.#compiled.keys()];
  }

  /** @throws actor/not_registered */
  find(name: string): CompiledActor {
    const found = this.#compiled.get(name);
    if (!found) throw new ActorError("actor", "not_registered", `There is no actor named "${name}" in the registry`);
    return found;
  }

  /** Harmless on Workers: the platform starts what `createHandler` exports. */
  start(): void {}
}

/** Collects actors under the names by which clients reach them. */
export function setup<const D extends ActorDefinitions>(config: RegistryConfig<D>): Registry<D> {
  return new Registry(config);
}
