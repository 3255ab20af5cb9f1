import type { SendResult } from "../../actor/api/client-types.js";
import {
  ActorError,
  checkActorName,
  formatBase64,
  formatRestKey,
  has,
  ownField,
  type WireCodec,
} from "../../protocol/page.js";
import { REAL_BACKOFF, withRetries, type BackoffPorts } from "./retry.js";
import { raceWithAbort } from "../config/abort.js";
import type { ResolvedConfig } from "../config/client-config.js";
import { copyOf, type ClientCodec } from "../config/client-codec.js";
import { codecOf, encodeClientInput } from "./load-codec.js";
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
export function createHttpTransport(
  config: ResolvedConfig,
  ports: BackoffPorts = REAL_BACKOFF,
  codec: ClientCodec = codecOf(config.encoding),
): ActorTransport {
  return new HttpTransport(config, ports, codec);
}

class HttpTransport implements ActorTransport {
  readonly #config: ResolvedConfig;
  readonly #ports: BackoffPorts;
  readonly codec: ClientCodec;

  constructor(config: ResolvedConfig, ports: BackoffPorts, codec: ClientCodec) {
    this.#config = config;
    this.codec = codec;
    this.#ports = ports;
  }

  async action({ target, name, args, params, signal }: ActionCall): Promise<unknown> {
    const headers = this.#gatewayHeaders(params);
    const said = this.#encoded([...args], ({ actionRequest }, copy) => actionRequest.encode({ args: copy }, EXTENDED));
    const [{ codec, body }, input] = await raceWithAbort(Promise.all([said, inputOf(target)]), signal);
    const { output } = await this.#send({
      method: "POST",
      url: gatewayUrl(this.#config, target, "action", name, input),
      headers,
      body,
      signal,
      decode: codec.actionResponse.decode,
    });
    return output;
  }

  async send({ target, queue, body, wait, timeout, after, params, signal }: SendCall): Promise<SendResult<unknown>> {
    const headers = this.#gatewayHeaders(params);
    const said = this.#encoded(body, ({ queueSendRequest }, copy) =>
      queueSendRequest.encode({ body: copy, name: queue, wait, ...(timeout !== undefined && { timeout }) }, EXTENDED),
    );
    const ready = Promise.all([said, inputOf(target), after]);
    const [{ codec, body: request }, input] = await raceWithAbort(ready, signal);
    return this.#send({
      method: "POST",
      url: gatewayUrl(this.#config, target, "queue", queue, input),
      headers,
      body: request,
      signal,
      decode: codec.queueSendResponse.decode,
    });
  }

  /** Sent once, since the actor's code may have run. */
  async fetch({ target, path, init, params, signal }: FetchCall): Promise<Response> {
    const { fetch, endpoint, headers: configured, token } = this.#config;
    const headers = new Headers(configured);
    new Headers(ownField(init, "headers")).forEach((value, name) => headers.set(name, value));
    for (const [name, value] of Object.entries({ ...EXTENDED_HEADER, ...credentials(token, params) }))
      headers.set(name, value);
    const encoding = inputOf(target);
    const sent = encoding === undefined ? init : withOwnBytes(init);
    const url = requestUrl(this.#config, target, path, encoding && (await raceWithAbort(encoding, signal)));
    try {
      return await fetch(url, { ...sent, headers, signal: signal ?? null });
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

  get pingIntervalMs(): number | undefined {
    return this.#config.pingIntervalMs;
  }

  get place(): string {
    return this.#config.endpoint;
  }

  async openSocket({ target, route, params, protocols, signal }: SocketCall): Promise<ClientSocket> {
    const { encoding, token, webSocket } = this.#config;
    const SocketClass = webSocket();
    if (SocketClass === undefined) throw noWebSocket();
    const offered = socketProtocols({ encoding, token, params, protocols });
    const codec = route.kind === "raw" ? undefined : (this.codec.loaded ?? this.codec.load());
    const ready = Promise.all([inputOf(target), codec]);
    const [input] = await raceWithAbort(ready, signal);
    const socket = new SocketClass(socketUrl(this.#config, target, route, input), offered);
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
    const headers = this.#restHeaders(params);
    const encoded = input === undefined ? undefined : await raceWithAbort(encodeClientInput(input), signal);
    const body = {
      name,
      key: formatRestKey(key),
      runner_name_selector: poolName ?? "default",
      crash_policy: "sleep",
      ...(encoded && { input: formatBase64(encoded) }),
      ...(region !== undefined && { datacenter: region }),
    };
    return this.#send({
      method,
      url: `${endpoint}/actors?${new URLSearchParams({ namespace })}`,
      headers,
      body: JSON.stringify(body),
      signal,
      decode: createdId,
    });
  }

  #send<T>(request: HttpRequest<T>): Promise<T> {
    const { fetch, endpoint } = this.#config;
    return withRetries(() => exchange(fetch, endpoint, request), this.#ports, request.signal);
  }

  /**
   * What may change later is encoded at once, or copied until the codec is loaded: the caller goes on with its own.
   */
  #encoded<T>(
    value: T,
    encode: (codec: WireCodec, value: T) => Uint8Array<ArrayBuffer>,
  ):
    | { codec: WireCodec; body: Uint8Array<ArrayBuffer> }
    | Promise<{ codec: WireCodec; body: Uint8Array<ArrayBuffer> }> {
    const { loaded } = this.codec;
    if (loaded !== undefined) return { codec: loaded, body: encode(loaded, value) };
    const copy = copyOf(value);
    return this.codec.load().then((codec) => ({ codec, body: encode(codec, copy) }));
  }

  #gatewayHeaders(params: unknown): Record<string, string> {
    const { headers, token, encoding } = this.#config;
    return {
      ...headers,
      ...EXTENDED_HEADER,
      "content-type": encoding === "json" ? "application/json" : "application/octet-stream",
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

/** Only a call that brings an input waits for the codec of inputs. */
function inputOf(target: ActorTarget): Promise<Uint8Array<ArrayBuffer>> | undefined {
  if (!has(target, "mode") || target.mode !== "getOrCreate") return undefined;
  const input = ownField(target, "input");
  return input === undefined ? undefined : encodeClientInput(input);
}

/** For a request that waits: `fetch` itself would copy a body of bytes at once. */
function withOwnBytes(init: RequestInit): RequestInit {
  const body = ownField(init, "body");
  return body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? { ...init, body: structuredClone(body) } : init;
}

function credentials(token: string | undefined, params: unknown): Record<string, string> {
  return {
    ...(token !== undefined && { "x-rivet-token": token }),
    ...(params !== undefined && { "x-rivet-conn-params": asciiJson(params) }),
  };
}
