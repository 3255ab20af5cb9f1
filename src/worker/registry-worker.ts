import type { ClientEffects, Registry } from "../actor/index.js";
import {
  createBindingTransport,
  createClientWithTransport,
  type BackoffPorts,
  type ClientOptions,
} from "../client/binding.js";
import { MAX_VALUE_BYTES, own, type CallLink } from "../protocol/index.js";
import {
  createActorAccess,
  createRouter,
  errorResponse,
  failureOf,
  type ActorNamespace,
  type Router,
  type RouterLog,
  type RouterOptions,
  type WaitPorts,
} from "../router/index.js";

export interface RegistryWorkerOptions extends Pick<
  RouterOptions,
  "authorize" | "basePath" | "cors" | "hosts" | "part" | "sockets" | "token"
> {
  readonly log: RouterLog;
  /** Time and randomness of what waits here. Default: the platform's. */
  readonly ports?: WaitPorts;
  /** The same for the connections of its clients. */
  readonly connectionPorts?: ClientOptions["ports"];
}

/** How user code that makes a client is told of what it does with it; all of it may be left out. */
export interface ClientUses {
  /** Runs before each call leaves, and may throw. */
  readonly beforeCall?: () => void;
  /** Connections end with the first of these. */
  readonly ends?: readonly AbortSignal[];
  readonly effects?: ClientEffects | undefined;
  /** Who waits for a call that leaves now. */
  readonly chain?: (() => readonly CallLink[]) | undefined;
}

export interface RegistryWorker {
  /** Answers requests from outside; undefined if the path is not ours. */
  readonly router: Router;
  /** The way to the actors of a namespace, without HTTP. */
  transport(objects: ActorNamespace, uses?: ClientUses): ReturnType<typeof createBindingTransport>;
  /** A client over it. */
  client(objects: ActorNamespace, uses?: ClientUses): unknown;
}

/** Joins the router of a registry and the client inside its Worker, over whatever namespace of objects. */
export function createRegistryWorker(registry: Registry, given: RegistryWorkerOptions): RegistryWorker {
  const { log, ports, connectionPorts, ...options } = own(given);
  const actorNames = new Set(registry.actorNames);
  const { maxIncomingMessageSize, maxOutgoingMessageSize } = registry.config;
  const router = createRouter({
    ...options,
    ...ports,
    actorNames,
    log,
    ...(maxIncomingMessageSize === undefined ? {} : { maxIncomingMessageSize }),
    maxQueueBodySize: queueBodyLimit(registry),
    ...(maxOutgoingMessageSize === undefined ? {} : { maxOutgoingMessageSize }),
  });
  const failurePorts = { log, newErrorId: () => crypto.randomUUID(), expose: false };
  const accessOf = createActorAccess(actorNames, ports);
  const transport: RegistryWorker["transport"] = (objects, uses = {}) => {
    const { beforeCall = () => {}, chain = () => [] } = own(uses);
    const { callActor, openSocket, sendMessage, sendRequest } = accessOf(objects);
    const backoff: BackoffPorts | undefined = ports && { sleep: ports.sleep, random: ports.random };
    return createBindingTransport(
      {
        async call(call) {
          beforeCall();
          return callActor({ ...call, internal: true, chain: chain() });
        },
        async send(send) {
          beforeCall();
          return sendMessage({ ...send, internal: true, chain: chain() });
        },
        async openSocket(call) {
          beforeCall();
          return openSocket({ ...call, internal: true });
        },
        async fetch(request) {
          beforeCall();
          // As over HTTP, an error on the actor's side is an answer.
          return sendRequest({ ...request, internal: true }).catch((error: unknown) =>
            errorResponse(failureOf(error, failurePorts, {}), true),
          );
        },
        beforeSend: beforeCall,
      },
      backoff,
    );
  };
  return {
    router,
    transport,
    client: (objects, uses = {}) => {
      const { ends = [], effects } = own(uses);
      return createClientWithTransport(transport(objects, uses), {
        ends,
        effects,
        ...(connectionPorts && { ports: connectionPorts }),
      });
    },
  };
}

/** The most bytes of a queue send's body before it is parsed: the largest limit of all actors, in any encoding. */
function queueBodyLimit(registry: Registry): number {
  const limits = registry.actorNames.map((name) =>
    Math.min(MAX_VALUE_BYTES, registry.find(name).options.maxQueueMessageSize),
  );
  return limits.reduce((largest, limit) => Math.max(largest, 2 * limit), 1024 * 1024);
}
