import type { ClientFor, CreateOptions, GetOptions, GetOrCreateOptions } from "../../actor/api/client-types.js";
import { ActorError, normalizeKey, readOptions } from "../../protocol/page.js";
import { isInheritedName } from "./action-proxy.js";
import { createActorHandle } from "./actor-handle.js";
import { OpenConnections, type ClientOptions } from "./open-connections.js";
import type { ActorTarget, ActorTransport } from "../transport/transport.js";

type Key = string | readonly string[];

/** A client over another transport. */
export function createClientWithTransport<R = any>(
  transport: ActorTransport,
  options: ClientOptions = {},
): ClientFor<R> {
  const methods = clientMethods(transport, new OpenConnections(options));
  const accessors = new Map<string, unknown>();
  const client = new Proxy(methods, {
    get(own, property): unknown {
      if (typeof property === "symbol" || Object.hasOwn(own, property) || isInheritedName(property))
        return Reflect.get(own, property);
      let accessor = accessors.get(property);
      if (accessor === undefined) accessors.set(property, (accessor = accessorOf(methods, property)));
      return accessor;
    },
  });
  return client as unknown as ClientFor<R>;
}

/** RivetKit's `poolName` and `skipReadyWait` are accepted and have no effect. */
const GET_OPTIONS = [
  "params",
  "getParams",
  "signal",
  "poolName",
  "skipReadyWait",
] as const satisfies readonly (keyof GetOptions)[];
const GET_OR_CREATE_OPTIONS = [...GET_OPTIONS, "createWithInput", "createInRegion"] as const;
const CREATE_OPTIONS = [...GET_OPTIONS, "input", "region"] as const;

interface Methods {
  get(name: string, key?: Key, options?: GetOptions): unknown;
  getOrCreate(name: string, key?: Key, options?: GetOrCreateOptions): unknown;
  getForId(name: string, actorId: string, options?: GetOptions): unknown;
  create(name: string, key?: Key, options?: CreateOptions): Promise<unknown>;
  dispose(): Promise<void>;
}

function clientMethods(transport: ActorTransport, connections: OpenConnections): Methods {
  const handle = (target: ActorTarget, { params, getParams, signal }: GetOptions): unknown =>
    createActorHandle(transport, target, { params, getParams, signal }, connections);
  return {
    get(name, key, options) {
      return handle(
        { name, key: normalizeKey(key), mode: "get" },
        readOptions("get", options, GET_OPTIONS, invalidOption),
      );
    },
    getOrCreate(name, key, given) {
      const options = readOptions("getOrCreate", given, GET_OR_CREATE_OPTIONS, invalidOption);
      const { createWithInput: input, createInRegion: region } = options;
      return handle({ name, key: normalizeKey(key), mode: "getOrCreate", input, region }, options);
    },
    getForId(_name, actorId, options) {
      return handle({ actorId }, readOptions("getForId", options, GET_OPTIONS, invalidOption));
    },
    async create(name, key, given) {
      const options = readOptions("create", given, CREATE_OPTIONS, invalidOption);
      const { input, region, signal, params } = options;
      const actorId = await transport.create({ name, key: normalizeKey(key), input, region, params, signal });
      return handle({ actorId }, options);
    },
    async dispose() {
      connections.disposeAll();
    },
  };
}

function invalidOption(problem: string): ActorError {
  return new ActorError("request", "invalid", `${problem}.`);
}

function accessorOf(methods: Methods, name: string): object {
  return {
    get: (key?: Key, options?: GetOptions) => methods.get(name, key, options),
    getOrCreate: (key?: Key, options?: GetOrCreateOptions) => methods.getOrCreate(name, key, options),
    getForId: (actorId: string, options?: GetOptions) => methods.getForId(name, actorId, options),
    create: (key?: Key, options?: CreateOptions) => methods.create(name, key, options),
  };
}
