import type { ActionRequest } from "../actor/client-types.js";
import { ActorError } from "../protocol/index.js";
import { eitherSignal, raceWithAbort } from "./abort.js";
import { createActionProxy, isInheritedName } from "./action-proxy.js";
import type { ActorTarget, ActorTransport, TargetCall } from "./transport.js";

export interface HandleOptions {
  readonly params?: unknown;
  readonly signal?: AbortSignal | undefined;
}

interface SignalOption {
  readonly signal?: AbortSignal;
}

interface SendOptions extends SignalOption {
  readonly wait?: boolean;
  readonly timeout?: number;
}

/**
 * A handle of one actor: own methods, and every other property is an action. Making one calls nothing, and neither does
 * awaiting, logging or stringifying it.
 */
export function createActorHandle(transport: ActorTransport, target: ActorTarget, options: HandleOptions): unknown {
  const methods = new HandleMethods(transport, target, options);
  const actions = new Map<string, unknown>();
  return new Proxy(ownProperties(methods, describe(target)), {
    get(own, property): unknown {
      if (typeof property === "symbol" || Object.hasOwn(own, property) || isInheritedName(property)) return Reflect.get(own, property);
      let action = actions.get(property);
      if (action === undefined) {
        action = createActionProxy(property, (name, args) => methods.action({ name, args }));
        actions.set(property, action);
      }
      return action;
    },
  });
}

class HandleMethods {
  readonly #transport: ActorTransport;
  readonly #call: TargetCall;
  /** Settles when all plain sends so far have: messages are stored in the order in which they are sent. */
  #lastSend: Promise<unknown> = Promise.resolve();

  constructor(transport: ActorTransport, target: ActorTarget, { params, signal }: HandleOptions) {
    this.#transport = transport;
    this.#call = { target, params, signal };
  }

  async action(request: ActionRequest): Promise<unknown> {
    if (typeof request !== "object" || request === null || typeof request.name !== "string" || !Array.isArray(request.args ?? [])) {
      throw new Error("Invalid action call: action() takes { name, args }. To call one by its name, use handle.name(...args).");
    }
    const { name, args = [], signal } = request;
    return this.#transport.action({ ...this.#with(signal), name, args });
  }

  /** A send that waits for its completion starts in its turn, but holds no later one up. */
  async send(queue: string, body: unknown, options: SendOptions = {}): Promise<unknown> {
    const { wait = false, timeout, signal } = options;
    if (timeout !== undefined && !isDuration(timeout)) {
      throw new ActorError("request", "invalid", `A timeout is a number of milliseconds, not ${String(timeout)}.`);
    }
    const previous = this.#lastSend;
    const call = { ...this.#with(signal), queue, body, wait, timeout };
    const sent = raceWithAbort(previous, call.signal).then(() => this.#transport.send(call));
    if (!wait) this.#lastSend = Promise.allSettled([previous, sent]);
    const result = await sent;
    return wait ? result : undefined;
  }

  async resolve({ signal }: SignalOption = {}): Promise<string> {
    return this.#transport.resolve(this.#with(signal));
  }

  async getGatewayUrl({ signal }: SignalOption = {}): Promise<string> {
    return this.#transport.gatewayUrl(this.#with(signal));
  }

  #with(signal: AbortSignal | undefined): TargetCall {
    return { ...this.#call, signal: eitherSignal(this.#call.signal, signal) };
  }
}

function isDuration(timeout: unknown): boolean {
  return typeof timeout === "number" && timeout >= 0 && timeout <= Number.MAX_SAFE_INTEGER;
}

/** What stands on the handle itself. Not enumerable, so that a log or a copy of it shows no functions. */
function ownProperties(methods: HandleMethods, description: Readonly<Record<string, unknown>>): object {
  const text = `ActorHandle ${JSON.stringify(description)}`;
  const own: Record<string | symbol, unknown> = {
    action: (request: ActionRequest) => methods.action(request),
    send: (queue: string, body: unknown, options?: SendOptions) => methods.send(queue, body, options),
    resolve: (options?: SignalOption) => methods.resolve(options),
    getGatewayUrl: (options?: SignalOption) => methods.getGatewayUrl(options),
    toString: () => text,
    toJSON: () => description,
    [Symbol.toStringTag]: "ActorHandle",
    [Symbol.for("nodejs.util.inspect.custom")]: () => text,
  };
  const handle = {};
  for (const property of Reflect.ownKeys(own)) {
    Object.defineProperty(handle, property, { value: own[property], writable: true, configurable: true, enumerable: false });
  }
  return handle;
}

function describe(target: ActorTarget): Readonly<Record<string, unknown>> {
  return "actorId" in target ? { actorId: target.actorId } : { name: target.name, key: target.key };
}
