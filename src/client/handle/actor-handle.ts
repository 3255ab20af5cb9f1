import type { ActionRequest, ConnectOptions, WebSocketOptions } from "../../actor/api/client-types.js";
import { ActorError, MAX_SEND_WAIT_MS, readOptions, has, own } from "../../protocol/page.js";
import { eitherSignal } from "../config/abort.js";
import { withActions, readActionRequest } from "./action-proxy.js";
import { createConnectionHandle } from "./connection-handle.js";
import { readRawCall } from "../transport/raw-call.js";
import type { OpenConnections } from "./open-connections.js";
import type { ClientSocket } from "../config/socket.js";
import type { ActorTarget, ActorTransport, TargetCall } from "../transport/transport.js";

export interface HandleOptions {
  readonly params?: unknown;
  /** Makes the params of each socket, instead of `params`. */
  readonly getParams?: (() => unknown) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The longest delay of a timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface SignalOption {
  readonly signal?: AbortSignal;
}

interface SendOptions extends SignalOption {
  readonly wait?: boolean;
  readonly timeout?: number;
}

/**
 * A handle of one actor: it has its own methods, and every other property is an action. Creating, awaiting, logging or
 * stringifying it calls nothing.
 */
export function createActorHandle(
  transport: ActorTransport,
  target: ActorTarget,
  options: HandleOptions,
  connections: OpenConnections,
): unknown {
  const methods = new HandleMethods(transport, target, options, connections);
  const own = {
    action: (request: ActionRequest) => methods.action(request),
    send: (queue: string, body: unknown, sendOptions?: SendOptions) => methods.send(queue, body, sendOptions),
    connect: (params?: unknown, connectOptions?: ConnectOptions) => methods.connect(params, connectOptions),
    webSocket: (path?: string, protocols?: string | readonly string[], socketOptions?: WebSocketOptions) =>
      methods.webSocket(path, protocols, socketOptions),
    fetch: (input: unknown, init?: RequestInit | Request) => methods.fetch(input, init),
    resolve: (signalOption?: SignalOption) => methods.resolve(signalOption),
    getGatewayUrl: (signalOption?: SignalOption) => methods.getGatewayUrl(signalOption),
  };
  return withActions("ActorHandle", describe(target), own, (name, args) => methods.action({ name, args }));
}

class HandleMethods {
  readonly #transport: ActorTransport;
  readonly #options: HandleOptions;
  readonly #connections: OpenConnections;
  readonly #call: TargetCall;
  /** Settles when all sends so far without `wait` have, so that messages are stored in the order they are sent. */
  #lastSend: Promise<unknown> = Promise.resolve();

  constructor(transport: ActorTransport, target: ActorTarget, options: HandleOptions, connections: OpenConnections) {
    this.#transport = transport;
    this.#options = options;
    this.#connections = connections;
    this.#call = { target, params: options.params, signal: options.signal };
  }

  action(request: ActionRequest): Promise<unknown> {
    return this.#began(`action ${String((request as Partial<ActionRequest> | undefined | null)?.name)}`, async () => {
      const { name, args, signal } = readActionRequest(request);
      return this.#transport.action({ ...this.#with(signal), name, args });
    });
  }

  send(queue: string, body: unknown, options?: SendOptions, params = this.#call.params): Promise<unknown> {
    const send = (): Promise<unknown> => this.#send(queue, body, options, params);
    return options?.wait ? this.#began(`send to ${queue}`, send) : this.#connections.effects.send(send);
  }

  #began<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { target } = this.#call;
    return this.#connections.effects.call(`${what} of ${has(target, "name") ? target.name : target.actorId}`, work);
  }

  /** A send with `wait` starts after earlier ones, but later ones do not wait for its completion. */
  async #send(queue: string, body: unknown, options: SendOptions | undefined, params: unknown): Promise<unknown> {
    const {
      wait = false,
      timeout: given,
      signal,
    } = readOptions("send", options, ["wait", "timeout", "signal"], invalidOption);
    const timeout = given === undefined ? undefined : readSendTimeout(given);
    const previous = this.#lastSend;
    const call = { ...this.#with(signal), params, queue, body, wait, timeout, after: previous };
    const sent = this.#transport.send(call);
    if (!wait) this.#lastSend = Promise.allSettled([previous, sent]);
    const result = await sent;
    return wait ? result : undefined;
  }

  connect(params: unknown, given?: ConnectOptions): unknown {
    const options = readOptions(
      "connect",
      given,
      ["getParams", "callTimeout", "signal", "skipReadyWait"],
      invalidOption,
    );
    const { callTimeout, signal } = options;
    if (callTimeout !== undefined && !(typeof callTimeout === "number" && callTimeout >= 0 && callTimeout < Infinity)) {
      throw invalidOption(`A callTimeout is a finite number of milliseconds, not ${String(callTimeout)}`);
    }
    const { target } = this.#call;
    return createConnectionHandle(this.#transport, this.#connections, {
      target,
      description: describe(target),
      getParams: this.#paramsOf(params, options.getParams),
      callTimeoutMs: callTimeout === undefined ? undefined : Math.min(callTimeout, MAX_TIMER_MS),
      signal: eitherSignal(this.#call.signal, signal),
      send: (queue, body, sendOptions, ownParams) =>
        this.send(queue, body, sendOptions as SendOptions | undefined, ownParams),
    });
  }

  async webSocket(
    path = "",
    protocols: string | readonly string[] = [],
    options?: WebSocketOptions,
  ): Promise<ClientSocket> {
    const { params, getParams } = readOptions(
      "webSocket",
      options,
      ["params", "getParams", "skipReadyWait"],
      invalidOption,
    );
    const others = typeof protocols === "string" ? [protocols] : protocols;
    const call = { ...this.#call, params: await this.#paramsOf(params, getParams)() };
    call.signal?.throwIfAborted();
    return this.#transport.openSocket({ ...call, route: { kind: "raw", path }, protocols: others });
  }

  fetch(input: unknown, init?: RequestInit | Request): Promise<Response> {
    return this.#began("fetch", async () => {
      const call = readRawCall(input, init);
      const { signal, ...rest } = own(call.init);
      return this.#transport.fetch({ ...this.#with(signal ?? undefined), path: call.path, init: rest });
    });
  }

  async resolve(options?: SignalOption): Promise<string> {
    const { signal } = readOptions("resolve", options, ["signal"], invalidOption);
    return this.#transport.resolve(this.#with(signal));
  }

  async getGatewayUrl(options?: SignalOption): Promise<string> {
    const { signal } = readOptions("getGatewayUrl", options, ["signal"], invalidOption);
    return this.#transport.gatewayUrl(this.#with(signal));
  }

  /** A socket's params: those given to it, otherwise the result of `getParams`, otherwise the handle's. */
  #paramsOf(params: unknown, getParams = this.#options.getParams): () => unknown {
    if (params !== undefined) return () => params;
    return getParams ?? (() => this.#call.params);
  }

  #with(signal: AbortSignal | undefined): TargetCall {
    return { ...this.#call, signal: eitherSignal(this.#call.signal, signal) };
  }
}

/**
 * Reads a send's timeout; a negative one counts as 0.
 *
 * @throws {request/invalid} when it is not a number of at most a day
 */
function readSendTimeout(timeout: unknown): number {
  if (typeof timeout === "number" && timeout <= MAX_SEND_WAIT_MS && timeout > -Infinity) return Math.max(0, timeout);
  throw invalidOption(
    `The timeout of a send is a number of milliseconds, at most ${MAX_SEND_WAIT_MS} (a day), not ${String(timeout)}`,
  );
}

function invalidOption(problem: string): ActorError {
  return new ActorError("request", "invalid", `${problem}.`);
}

function describe(target: ActorTarget): Readonly<Record<string, unknown>> {
  return has(target, "actorId") ? { actorId: target.actorId } : { name: target.name, key: target.key };
}
