import type { SendResult } from "../../actor/api/client-types.js";
import {
  ActorError,
  decodeValue,
  encodeInput,
  encodeValue,
  toErrorData,
  has,
  own,
  wireCodec,
  type Creation,
  type CallOperation,
} from "../../protocol/index.js";
import { raceWithAbort } from "../config/abort.js";
import type { ClientCodec } from "../config/client-codec.js";
import { rawPath } from "./gateway-url.js";
import type { ClientSocket } from "../config/socket.js";
import { REAL_BACKOFF, withRetries, type BackoffPorts } from "./retry.js";
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

/** A target in the form of the router's functions; input is bytes of the storage codec. */
export type BindingTarget =
  | { readonly name: string; readonly key: readonly string[]; readonly creation: Creation; readonly region?: string }
  | { readonly actorId: string };

/** A call in the form of the router's functions; values are bytes of the storage codec. */
export interface BindingCall {
  readonly target: BindingTarget;
  readonly operation: CallOperation;
  readonly params?: Uint8Array;
  /** The request the actor sees behind a raw socket. */
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly (readonly [string, string])[];
  };
}

/** A send in the form of the router's functions; values are bytes of the storage codec. */
export interface BindingSend {
  readonly target: BindingTarget;
  readonly queue: string;
  readonly body: Uint8Array;
  readonly wait: boolean;
  readonly timeoutMs?: number;
  readonly params?: Uint8Array;
  readonly signal?: AbortSignal;
}

/** A raw request in the form of the router's functions. */
export interface BindingRequest extends Omit<BindingCall, "operation"> {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly (readonly [string, string])[];
  };
  readonly body: ReadableStream | null;
  readonly signal?: AbortSignal | undefined;
}

/** The way to actors' objects over their binding, made of the router's functions. All reject with ActorErrors. */
export interface ActorBinding {
  /** Made by `createActorCaller`. */
  call(call: BindingCall): Promise<{ readonly actorId: string; readonly output?: Uint8Array }>;
  /** Made by `createMessageSender`: it holds a waiting sender, even while the object restarts. */
  send(send: BindingSend): Promise<{ readonly status: "completed" | "timedOut"; readonly reply?: Uint8Array }>;
  /** Made by `createSocketOpener`: the socket is not accepted yet. */
  openSocket(call: BindingCall): Promise<BindingSocket>;
  /** Made by `createRequestSender`, except that errors are answers too. */
  fetch(request: BindingRequest): Promise<Response>;
  /** Runs before each message that leaves through a socket. */
  beforeSend?(): void;
}

/** One end of a Worker's socket pair. */
export type BindingSocket = ClientSocket & { accept(): void };

/** Calls actors inside the Worker, without HTTP. An aborted call rejects at once; the actor may still finish it. */
export function createBindingTransport(binding: ActorBinding, ports: BackoffPorts = REAL_BACKOFF): ActorTransport {
  return new BindingTransport(binding, ports);
}

const CBOR = wireCodec("cbor");
const CODEC: ClientCodec = { encoding: "cbor", loaded: CBOR, load: async () => CBOR };

class BindingTransport implements ActorTransport {
  readonly #binding: ActorBinding;
  readonly #ports: BackoffPorts;
  readonly codec = CODEC;
  readonly place = "the actor's object";
  /** No network in between: the platform reports every end. */
  readonly pingIntervalMs = undefined;

  constructor(binding: ActorBinding, ports: BackoffPorts) {
    this.#binding = binding;
    this.#ports = ports;
  }

  async action({ target, name, args, params, signal }: ActionCall): Promise<unknown> {
    const bytes = encodeValue([...args], { what: `the arguments of the action ${name}` });
    const { output } = await this.#call(
      {
        target: targetOf(target),
        operation: { kind: "action", name, args: bytes },
        ...paramsOf(params),
      },
      signal,
    );
    return output === undefined ? undefined : decodeValue(output);
  }

  async send({ target, queue, body, wait, timeout, after, params, signal }: SendCall): Promise<SendResult<unknown>> {
    const send: BindingSend = {
      target: targetOf(target),
      queue,
      body: encodeValue(body, { what: "body" }),
      wait,
      ...(timeout !== undefined && { timeoutMs: timeout }),
      ...(signal !== undefined && { signal }),
      ...paramsOf(params),
    };
    if (after) await raceWithAbort(after, signal);
    const { status, reply } = own(await this.#retried(() => this.#binding.send(send), signal));
    return { status, ...(reply !== undefined && { response: decodeValue(reply) }) };
  }

  async resolve({ target, params, signal }: TargetCall): Promise<string> {
    if (has(target, "actorId")) return target.actorId;
    const { actorId } = await this.#call(
      { target: targetOf(target), operation: { kind: "resolve" }, ...paramsOf(params) },
      signal,
    );
    return actorId;
  }

  async create({ name, key, input, region, params, signal }: CreateCall): Promise<string> {
    const creation: Creation = { mode: "create", ...inputOf(input) };
    const target = { name, key, creation, ...(region !== undefined && { region }) };
    const { actorId } = await this.#call({ target, operation: { kind: "resolve" }, ...paramsOf(params) }, signal);
    return actorId;
  }

  async gatewayUrl(_call: TargetCall): Promise<string> {
    throw new ActorError("feature", "unsupported", "An actor called over its binding has no gateway URL.");
  }

  /** Sent once, since the actor's code may have run. Redirects are not followed. */
  async fetch({ target, path, init, params, signal }: FetchCall): Promise<Response> {
    const { method, url, headers, body } = new Request(`http://actor${path}`, init);
    const request = { method, url, headers: [...headers] };
    const sent = this.#binding.fetch({ target: targetOf(target), request, body, signal, ...paramsOf(params) });
    return raceWithAbort(sent.catch(rethrowCoded), signal);
  }

  /** Tried once, since hooks of the actor may have run. */
  async openSocket({ target, route, params, protocols }: SocketCall): Promise<ClientSocket> {
    const isRaw = route.kind === "raw";
    const socket = await this.#binding
      .openSocket({
        target: targetOf(target),
        operation: { kind: "connect", encoding: CODEC.encoding, extended: true, ...(isRaw && { raw: true }) },
        ...(isRaw && { request: rawRequest(route.path, protocols) }),
        ...paramsOf(params),
      })
      .catch(rethrowCoded);
    // By default some platforms deliver Blobs, which can only be read asynchronously.
    socket.binaryType = "arraybuffer";
    socket.accept();
    const { beforeSend } = this.#binding;
    if (beforeSend !== undefined) {
      const send = socket.send.bind(socket);
      socket.send = (data) => {
        beforeSend();
        send(data);
      };
    }
    return socket;
  }

  #call(call: BindingCall, signal: AbortSignal | undefined): ReturnType<ActorBinding["call"]> {
    return this.#retried(() => this.#binding.call(call), signal);
  }

  #retried<T>(attempt: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return withRetries(() => raceWithAbort(attempt().catch(rethrowCoded), signal), this.#ports, signal);
  }
}

/** The request the router would make of an upgrade. */
function rawRequest(path: string, protocols: readonly string[] = []): NonNullable<BindingCall["request"]> {
  const { pathname, search } = rawPath(path);
  return {
    method: "GET",
    url: `http://actor/websocket${pathname === "/" ? "" : pathname}${search}`,
    headers: protocols.length === 0 ? [] : [["sec-websocket-protocol", protocols.join(", ")]],
  };
}

function targetOf(target: ActorTarget): BindingTarget {
  if (has(target, "actorId")) return target;
  const { name, key, mode, input, region } = own(target);
  if (mode === "get") return { name, key, creation: { mode } };
  return { name, key, creation: { mode, ...inputOf(input) }, ...(region !== undefined && { region }) };
}

function inputOf(input: unknown): { input?: Uint8Array } {
  return input === undefined ? {} : { input: encodeInput(input) };
}

function paramsOf(params: unknown): { params?: Uint8Array } {
  return params === undefined ? {} : { params: encodeValue(params, { what: "the connection params" }) };
}

/** Masks an error without a code, as on the wire, but keeps its cause. */
function rethrowCoded(error: unknown): never {
  if (ActorError.isActorError(error)) throw error;
  const { data, status } = toErrorData(error);
  throw new ActorError(data.group, data.code, data.message, { statusCode: status, public: true, cause: error });
}
