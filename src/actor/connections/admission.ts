import { ActorError, decodeValue, encodeValue, own, type Encoding } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Chain } from "../activation/call-chain.js";
import {
  checkParamsSize,
  MAX_CONNECTION_STATE_BYTES,
  type Connection,
  type ConnectionKind,
  type FirstState,
  type NewConnection,
  type StoredRequest,
} from "../activation/connection.js";
import { callHook } from "../callbacks/call-hook.js";
import { validate } from "../definition/standard-schema.js";

/** A caller before admission. */
export interface Caller {
  readonly kind: ConnectionKind;
  readonly encoding: Encoding;
  readonly extended: boolean;
  /** Whether it pings after each mebibyte it has received. */
  readonly pings?: boolean;
  /** The params as received, in the storage codec. */
  readonly params: Uint8Array | undefined;
  /** Makes its HTTP request, the same each time. */
  readonly request: (() => Request) | undefined;
  /** Whether it is code of the same Worker, calling over the binding. */
  readonly internal: boolean;
  /** Everyone who waits for the call. */
  readonly chain?: Chain;
}

/** A caller that the hooks have admitted but that is not in the table yet. */
export interface Admitted {
  readonly about: NewConnection;
  readonly state: FirstState | undefined;
}

/** Bytes of the stored request of a raw socket. */
const MAX_REQUEST_BYTES = 3_500;

/**
 * Admits a caller: validates its params, then runs `onBeforeConnect` and `createConnState`. The caller is still invisible
 * when this resolves.
 *
 * @throws {actor/validation_error} when the params do not match `connParamsSchema`
 * @throws {request/too_large} when the params, or the URL of a socket that hibernates, are too large
 * @throws {actor/callback_timed_out} when a hook takes too long
 * @throws {value/too_large} when the connection's state is too large
 * @throws whatever the hooks throw
 */
export async function admit(activation: ActorActivation, caller: Caller): Promise<Admitted> {
  const { ports } = activation;
  const { kind, encoding, extended, pings, request } = own(caller);
  const params = await readParams(activation, caller.params);
  await beforeConnect(activation, caller, params);
  const state = await firstState(activation, params, caller);
  const hibernates = kind === "socket" || (kind === "raw" && canHibernate(activation, request?.()));
  const stored = kind === "raw" && hibernates && request ? { request: storableRequest(request()) } : {};
  return {
    about: {
      id: uuid(ports.randomHex(16)),
      kind,
      encoding,
      extended,
      params,
      hibernates,
      ...(pings && { pings }),
      ...stored,
    },
    state,
  };
}

/** Whether the definition has anything that sees the connection of a call without params before its code asks for it. */
export function isWatched(config: ActorActivation["actor"]["config"]): boolean {
  const { onBeforeConnect, createConnState, connState, onConnect, onDisconnect, connParamsSchema } = config;
  return [onBeforeConnect, createConnState, connState, onConnect, onDisconnect, connParamsSchema].some(
    (each) => each !== undefined,
  );
}

/** What `admit` knows of a call that nothing sees. */
export function unnoticed(
  { ports }: Pick<ActorActivation, "ports">,
  { kind, encoding, extended }: Caller,
): NewConnection {
  return { id: uuid(ports.randomHex(16)), kind, encoding, extended, params: undefined, hibernates: false };
}

/** Runs `onBeforeConnect`, if there is one. */
export async function beforeConnect(activation: ActorActivation, caller: Caller, params: unknown): Promise<void> {
  const { config, options } = activation.actor;
  if (config.onBeforeConnect)
    await callConnectionHook(activation, "onBeforeConnect", options.onBeforeConnectTimeout, caller, undefined, [
      params,
    ]);
}

/** @throws {actor/callback_timed_out} when the hook takes too long; whatever the hook throws */
export async function callConnectionHook(
  activation: ActorActivation,
  name: "onBeforeConnect" | "createConnState" | "onConnect" | "onDisconnect",
  timeoutMs: number,
  caller: Partial<Pick<Caller, "request" | "internal">>,
  connection: Connection | undefined,
  args: readonly unknown[],
): Promise<unknown> {
  const { request, internal } = own(caller);
  const about = {
    ...(request && { request }),
    ...(internal !== undefined && { internal }),
    ...(connection && { conn: () => connection.view }),
  };
  return callHook(activation, activation.actor.config[name], { name, timeoutMs, about }, args);
}

/**
 * Decodes the params and runs `connParamsSchema`.
 * @throws {actor/validation_error} when they do not match the schema
 * @throws {request/too_large} when they are too large
 */
export async function readParams(activation: ActorActivation, bytes: Uint8Array | undefined): Promise<unknown> {
  if (bytes) checkParamsSize(bytes);
  const params = bytes && decodeValue(bytes);
  const { config, options } = activation.actor;
  const { connParamsSchema } = config;
  if (!connParamsSchema) return params;
  const check = async (): Promise<unknown> => validate(connParamsSchema, params, "connection params");
  const checked = await callHook(activation, check, {
    name: "connParamsSchema",
    timeoutMs: options.onBeforeConnectTimeout,
  });
  checkParamsSize(encodeValue(checked, { what: "conn.params" }));
  return checked;
}

async function firstState(
  activation: ActorActivation,
  params: unknown,
  caller: Caller,
): Promise<FirstState | undefined> {
  const { config, options } = activation.actor;
  if (config.createConnState)
    return copyOf(
      await callConnectionHook(activation, "createConnState", options.createConnStateTimeout, caller, undefined, [
        params,
      ]),
    );
  return config.connState === undefined ? undefined : copyOf(config.connState);
}

function canHibernate({ actor }: Pick<ActorActivation, "actor">, request: Request | undefined): boolean {
  const option = actor.options.canHibernateWebSocket;
  return typeof option === "function" ? request !== undefined && option(request) === true : option;
}

/** The request for the handler after hibernation. Headers are dropped if they do not fit in a socket's attachment. */
function storableRequest({ url, headers }: Request): StoredRequest {
  const whole = { url, headers: [...headers] };
  if (encodeValue(whole).byteLength <= MAX_REQUEST_BYTES) return whole;
  if (url.length <= MAX_REQUEST_BYTES) return { url, headers: [] };
  throw new ActorError(
    "request",
    "too_large",
    `The URL of a socket that hibernates must have at most ${MAX_REQUEST_BYTES} bytes`,
    { metadata: { limitBytes: MAX_REQUEST_BYTES } },
  );
}

/** A UUID made of 32 hex digits. */
function uuid(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)].join("-");
}

/** Copies through the codec, so each connection has its own state, and refuses what cannot be stored. */
function copyOf(value: unknown): FirstState {
  const stored = encodeValue(value, { what: "conn.state", limitBytes: MAX_CONNECTION_STATE_BYTES });
  return { root: decodeValue(stored), stored };
}
