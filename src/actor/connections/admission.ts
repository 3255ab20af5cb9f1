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

/** What a caller brings. */
export interface Caller {
  readonly kind: ConnectionKind;
  readonly encoding: Encoding;
  readonly extended: boolean;
  /** It pings after each mebibyte that it has received. */
  readonly pings?: boolean;
  /** Params as they came, bytes of the storage codec. */
  readonly params: Uint8Array | undefined;
  readonly request: Request | undefined;
  /** Code of the same Worker, over the binding. */
  readonly internal: boolean;
  /** Who waits for the call. */
  readonly chain?: Chain;
}

/** A caller whom the actor's hooks have let in, and of whom nobody knows yet. */
export interface Admitted {
  readonly about: NewConnection;
  readonly state: FirstState | undefined;
}

/** Bytes of what is remembered of a raw socket's request. */
const MAX_REQUEST_BYTES = 3_500;

/**
 * Asks the actor whether a caller may come in: its params' schema, `onBeforeConnect`, `createConnState`. Nobody knows of the
 * caller yet when this resolves.
 *
 * @throws actor/validation_error, request/too_large, actor/callback_timed_out, value/too_large, and what the hooks throw
 */
export async function admit(activation: ActorActivation, caller: Caller): Promise<Admitted> {
  const { ports } = activation;
  const { kind, encoding, extended, pings, request } = own(caller);
  const params = await readParams(activation, caller.params);
  await beforeConnect(activation, caller, params);
  const state = await firstState(activation, params, caller);
  const hibernates = kind === "socket" || (kind === "raw" && mayHibernate(activation, request));
  const remembered = kind === "raw" && hibernates && request ? { request: rememberedRequest(request) } : {};
  return {
    about: {
      id: uuid(ports.randomHex(16)),
      kind,
      encoding,
      extended,
      params,
      hibernates,
      ...(pings && { pings }),
      ...remembered,
    },
    state,
  };
}

/** Asks `onBeforeConnect`, if there is one. */
export async function beforeConnect(activation: ActorActivation, caller: Caller, params: unknown): Promise<void> {
  const { config, options } = activation.actor;
  if (config.onBeforeConnect)
    await callConnectionHook(activation, "onBeforeConnect", options.onBeforeConnectTimeout, caller, undefined, [
      params,
    ]);
}

/** @throws actor/callback_timed_out, and what the hook throws */
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
    ...(connection && { conn: connection.view }),
  };
  return callHook(activation, activation.actor.config[name], { name, timeoutMs, about }, args);
}

/** The params as `connParamsSchema` makes them. @throws actor/validation_error, request/too_large */
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

function mayHibernate({ actor }: ActorActivation, request: Request | undefined): boolean {
  const option = actor.options.canHibernateWebSocket;
  return typeof option === "function" ? request !== undefined && option(request) === true : option;
}

/** What a handler is told again after hibernation: headers are left out where a socket cannot carry them. */
function rememberedRequest({ url, headers }: Request): StoredRequest {
  const whole = { url, headers: [...headers] };
  if (encodeValue(whole).byteLength <= MAX_REQUEST_BYTES) return whole;
  if (url.length <= MAX_REQUEST_BYTES) return { url, headers: [] };
  throw new ActorError(
    "request",
    "too_large",
    `The URL of a socket that hibernates has at most ${MAX_REQUEST_BYTES} bytes`,
    { metadata: { limitBytes: MAX_REQUEST_BYTES } },
  );
}

/** Of 32 hex digits. */
function uuid(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)].join("-");
}

/** Through the codec: each connection has a copy of its own, and what cannot be stored is refused here. */
function copyOf(value: unknown): FirstState {
  const stored = encodeValue(value, { what: "conn.state", limitBytes: MAX_CONNECTION_STATE_BYTES });
  return { root: decodeValue(stored), stored };
}
