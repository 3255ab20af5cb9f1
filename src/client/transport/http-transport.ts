import type { SendResult } from "../../actor/api/client-types.js";
import {
  ActorError,
  checkActorName,
  encodeTaggedCbor,
  formatBase64,
  formatRestKey,
  has,
  ownField,
  wireCodec,
  type Encoding,
} from "../../protocol/index.js";
import { REAL_BACKOFF, withRetries, type BackoffPorts } from "./retry.js";
import type { ResolvedConfig } from "../config/client-config.js";
import { asciiJson, socketProtocols } from "./encode-params.js";
import { networkError, noWebSocket } from "../config/errors.js";
import { actorUrl, gatewayUrl, requestUrl, socketUrl } from "./gateway-url.js";
import { exchange, type HttpRequest, createdId, foundIds } from "./http-exchange.js";
import type { ClientSocket } from "../config/socket.js";
import type {
  ActionCall,
  ActorTarget,
  ActorTransport,
  CreateCall,
  FetchCall,
  SendCall,
  SocketCall,
  TargetCall,
} from "./transport.js";

type KeyTarget = Exclude<ActorTarget, { actorId: string }>;

/** The server is Perdure: both directions carry every kind of value. */
const EXTENDED = { extended: true };
const EXTENDED_HEADER = { "x-perdure-json": "1" };

/** Calls actors over HTTP: the gateway for actions and messages, `/actors` for ids. */
export function createHttpTransport(config: ResolvedConfig, ports: BackoffPorts = REAL_BACKOFF): ActorTransport {
  return new HttpTransport(config, ports);
}

class HttpTransport implements ActorTransport {
  readonly #config: ResolvedConfig;
  readonly #ports: BackoffPorts;

  constructor(config: ResolvedConfig, ports: BackoffPorts) {
    this.#config = config;
    this.#ports = ports;
  }

  async action({ target, name, args, params, signal }: ActionCall): Promise<unknown> {
    const { actionRequest, actionResponse } = wireCodec(this.#config.encoding);
    const { output } = await this.#send({
      method: "POST",
      url: gatewayUrl(this.#config, target, "action", name),
      headers: this.#gatewayHeaders(params),
      body: actionRequest.encode({ args: [...args] }, EXTENDED),
      signal,
      decode: actionResponse.decode,
    });
    return output;
  }

  async send({ target, queue, body, wait, timeout, params, signal }: SendCall): Promise<SendResult<unknown>> {
    const { queueSendRequest, queueSendResponse } = wireCodec(this.#config.encoding);
    return this.#send({
      method: "POST",
      url: gatewayUrl(this.#config, target, "queue", queue),
      headers: this.#gatewayHeaders(params),
      body: queueSendRequest.encode({ body, name: queue, wait, ...(timeout !== undefined && { timeout }) }, EXTENDED),
      signal,
      decode: queueSendResponse.decode,
    });
  }

  /** Sent once, since the actor's code may have run. */
  async fetch({ target, path, init, params, signal }: FetchCall): Promise<Response> {
    const { fetch, endpoint, headers: configured, token } = this.#config;
    const headers = new Headers(configured);
    new Headers(ownField(init, "headers")).forEach((value, name) => headers.set(name, value));
    for (const [name, value] of Object.entries({ ...EXTENDED_HEADER, ...credentials(token, params) }))
      headers.set(name, value);
    const url = requestUrl(this.#config, target, path);
    try {
      return await fetch(url, { ...init, headers, signal: signal ?? null });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw networkError(endpoint, error);
    }
  }

  async resolve({ target, params, signal }: TargetCall): Promise<string> {
    if (has(target, "actorId")) return target.actorId;
    return target.mode === "get"
      ? this.#lookUp(target, params, signal)
      : this.#putOrPost("PUT", { ...target, params }, signal);
  }

  async create({ signal, ...actor }: CreateCall): Promise<string> {
    return this.#putOrPost("POST", actor, signal);
  }

  async gatewayUrl(call: TargetCall): Promise<string> {
    return actorUrl(this.#config.endpoint, await this.resolve(call));
  }

  get encoding(): Encoding {
    return this.#config.encoding;
  }

  get pingIntervalMs(): number | undefined {
    return this.#config.pingIntervalMs;
  }

  get place(): string {
    return this.#config.endpoint;
  }

  async openSocket({ target, route, params, protocols }: SocketCall): Promise<ClientSocket> {
    const { encoding, token, webSocket } = this.#config;
    const SocketClass = webSocket();
    if (SocketClass === undefined) throw noWebSocket();
    const url = socketUrl(this.#config, target, route);
    const socket = new SocketClass(url, socketProtocols({ encoding, token, params, protocols }));
    // By default some platforms deliver Blobs, which can only be read asynchronously.
    socket.binaryType = "arraybuffer";
    return socket;
  }

  async #lookUp({ name, key }: KeyTarget, params: unknown, signal: AbortSignal | undefined): Promise<string> {
    const { namespace, endpoint } = this.#config;
    // In a query, different malformed names would become the same.
    checkActorName(name);
    const query = new URLSearchParams({ namespace, name, key: formatRestKey(key) });
    const [actorId] = await this.#send({
      method: "GET",
      url: `${endpoint}/actors?${query}`,
      headers: this.#restHeaders(params),
      signal,
      decode: foundIds,
    });
    if (actorId === undefined)
      throw new ActorError("actor", "not_found", "There is no actor with this key.", { statusCode: 404 });
    return actorId;
  }

  async #putOrPost(
    method: "PUT" | "POST",
    actor: Omit<CreateCall, "signal">,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const { namespace, poolName, endpoint } = this.#config;
    const { name, key, input, region, params } = actor;
    const body = {
      name,
      key: formatRestKey(key),
      runner_name_selector: poolName ?? "default",
      crash_policy: "sleep",
      ...(input !== undefined && { input: formatBase64(encodeTaggedCbor(input, EXTENDED)) }),
      ...(region !== undefined && { datacenter: region }),
    };
    return this.#send({
      method,
      url: `${endpoint}/actors?${new URLSearchParams({ namespace })}`,
      headers: this.#restHeaders(params),
      body: JSON.stringify(body),
      signal,
      decode: createdId,
    });
  }

  #send<T>(request: HttpRequest<T>): Promise<T> {
    const { fetch, endpoint } = this.#config;
    return withRetries(() => exchange(fetch, endpoint, request), this.#ports, request.signal);
  }

  #gatewayHeaders(params: unknown): Record<string, string> {
    const { headers, token, encoding } = this.#config;
    return {
      ...headers,
      ...EXTENDED_HEADER,
      "content-type": wireCodec(encoding).contentType,
      "x-rivet-encoding": encoding,
      ...credentials(token, params),
    };
  }

  #restHeaders(params: unknown): Record<string, string> {
    const { headers, token } = this.#config;
    return {
      ...headers,
      ...EXTENDED_HEADER,
      "content-type": "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(params !== undefined && { "x-rivet-conn-params": asciiJson(params) }),
    };
  }
}

function credentials(token: string | undefined, params: unknown): Record<string, string> {
  return {
    ...(token !== undefined && { "x-rivet-token": token }),
    ...(params !== undefined && { "x-rivet-conn-params": asciiJson(params) }),
  };
}
