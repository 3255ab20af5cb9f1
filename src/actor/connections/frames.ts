/** Serves the frames of a connection's socket. */
import {
  ActorError,
  encodeValue,
  decodeValue,
  isBeyondLimit,
  MAX_UNCHECKED_BYTES,
  utf8Length,
  wireCodec,
  type Encoding,
  type Frame,
  type ToClient,
  type ToServer,
} from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Connection } from "../activation/connection.js";
import { callAction, checkResult } from "../callbacks/dispatch.js";
import { canSubscribeOf, checkSubscribable } from "./event-check.js";
import { tellFailure } from "../callbacks/failure-data.js";
import { callHook } from "../callbacks/call-hook.js";

/**
 * Serves one frame, in the order of arrival: subscriptions one by one, actions begun in order and answered as they end.
 * An invalid or oversized frame ends the connection. Other errors are sent to the client (CONN-7).
 */
export async function receiveFrame(
  activation: ActorActivation,
  connection: Connection,
  frame: string | Uint8Array,
): Promise<void> {
  const sizeBytes = sizeOf(frame);
  if (!connection.calls.admit(sizeBytes, activation.actor.options.maxConnectionCallBytes))
    return refuse(activation, connection, frame);
  const begun = connection.inbox.then(() => begin(activation, connection, frame, sizeBytes));
  connection.inbox = begun.catch(() => {});
  const { served } = await begun;
  await served;
}

/**
 * Decodes a frame.
 * @throws {message/incoming_too_long} when the frame is too long
 * @throws {encoding/invalid} when it is beyond a limit on what callers may send
 * @throws {actor/invalid_request} when it is not a message of the protocol
 */
export function readFrame(encoding: Encoding, frame: string | Uint8Array, limitBytes: number): ToServer {
  if (sizeOf(frame) > limitBytes) {
    throw new ActorError("message", "incoming_too_long", `A message must have at most ${limitBytes} bytes`, {
      metadata: { limitBytes },
    });
  }
  try {
    return wireCodec(encoding).toServer.decode(frame);
  } catch (cause) {
    if (isBeyondLimit(cause)) throw cause;
    throw new ActorError("actor", "invalid_request", "This is not a message of the protocol", { cause });
  }
}

/** What a client can decode: its encoding, and whether it is Perdure's own client, which revives every kind of value. */
export interface Dialect {
  readonly encoding: Encoding;
  readonly extended: boolean;
}

export function encodeFrame({ encoding, extended }: Dialect, message: ToClient): Frame {
  return wireCodec(encoding).toClient.encode(message, { extended });
}

export function outgoingTooLong(what: string, limitBytes: number): ActorError {
  return new ActorError("message", "outgoing_too_long", `${what} has more than ${limitBytes} bytes`, {
    metadata: { limitBytes },
  });
}

export function sizeOf(frame: string | Uint8Array): number {
  return typeof frame === "string" ? utf8Length(frame) : frame.byteLength;
}

/** Refuses a frame over the limit of calls in flight. A call gets an error; any other frame ends the connection. */
async function refuse(activation: ActorActivation, connection: Connection, frame: string | Uint8Array): Promise<void> {
  if (!activation.connections.includes(connection)) return;
  const limitBytes = activation.actor.options.maxConnectionCallBytes;
  const error = new ActorError(
    "connection",
    "overloaded",
    `The unanswered calls of a connection must have at most ${limitBytes} bytes together`,
    { metadata: { limitBytes } },
  );
  let message: ToServer;
  try {
    message = readFrame(connection.encoding, frame, activation.actor.messageLimits.incoming);
  } catch (cause) {
    return activation.connections.fail(connection, cause as ActorError);
  }
  if (message.tag === "ActionRequest") sendError(activation, connection, error, message.val.id);
  else await activation.connections.fail(connection, error, 1013);
}

type ActionRequest = Extract<ToServer, { tag: "ActionRequest" }>["val"];

/** Starts serving a frame. The action's promise is nested, so that awaiting this does not wait for the action. */
async function begin(
  activation: ActorActivation,
  connection: Connection,
  frame: string | Uint8Array,
  sizeBytes: number,
): Promise<{ served: Promise<void> | undefined }> {
  let served: Promise<void> | undefined;
  try {
    // An earlier frame may have ended the connection.
    if (!activation.connections.includes(connection)) return { served };
    const message = readFrame(connection.encoding, frame, activation.actor.messageLimits.incoming);
    if (message.tag === "ActionRequest") served = serveInTurn(activation, connection, message.val, sizeBytes);
    else await serveSubscription(activation, connection, message.val);
  } catch (error) {
    await activation.connections.fail(connection, error as ActorError);
  } finally {
    if (!served) connection.calls.dropped(sizeBytes);
  }
  return { served };
}

/** Begins actions in order, a limited number at a time. An action whose connection has ended never begins. */
async function serveInTurn(
  activation: ActorActivation,
  connection: Connection,
  call: ActionRequest,
  sizeBytes: number,
): Promise<void> {
  await connection.calls.turn(activation.actor.options.maxConnectionCalls);
  try {
    if (activation.connections.includes(connection)) await serveAction(activation, connection, call, sizeBytes);
  } finally {
    connection.calls.done(sizeBytes);
  }
}

async function serveAction(
  activation: ActorActivation,
  connection: Connection,
  { id, name, args: sent }: ActionRequest,
  sizeBytes: number,
): Promise<void> {
  try {
    // As over HTTP, the values of such a message are checked.
    const args = sizeBytes <= MAX_UNCHECKED_BYTES ? sent : decodeValue(encodeValue(sent, { what: "the arguments" }));
    const encode = (output: unknown): Frame => {
      checkResult(output);
      return encodeFrame(connection, { tag: "ActionResponse", val: { id, output } });
    };
    const origin = { conn: () => connection.view };
    const answer = await callAction(activation, name, args as unknown[], origin, encode);
    const limit = activation.actor.messageLimits.outgoing;
    if (sizeOf(answer) > limit) throw outgoingTooLong(`The result of "${name}"`, limit);
    connection.send(answer);
  } catch (error) {
    sendError(activation, connection, error, id, { action: name });
  }
}

async function serveSubscription(
  activation: ActorActivation,
  connection: Connection,
  { eventName, subscribe }: { eventName: string; subscribe: boolean },
): Promise<void> {
  if (!subscribe) {
    connection.unsubscribe(eventName);
    activation.connections.store(connection);
    return;
  }
  try {
    checkSubscribable(activation.actor, eventName);
  } catch (error) {
    sendError(activation, connection, error, null);
    return;
  }
  try {
    await checkAllowed(activation, connection, eventName);
  } catch (error) {
    const { error: data } = tellFailure(error, activation.ports, activation.record, true);
    await activation.connections.fail(
      connection,
      new ActorError(data.group, data.code, data.message, { metadata: data.metadata }),
    );
    return;
  }
  try {
    connection.subscribe(eventName);
    activation.connections.store(connection);
  } catch (error) {
    sendError(activation, connection, error, null);
  }
}

/**
 * @throws {auth/forbidden} when `canSubscribe` returns false
 * @throws {actor/callback_timed_out} when `canSubscribe` takes longer than `onConnectTimeout`
 * @throws whatever `canSubscribe` throws
 */
async function checkAllowed(activation: ActorActivation, connection: Connection, eventName: string): Promise<void> {
  const canSubscribe = canSubscribeOf(activation.actor, eventName);
  if (!canSubscribe) return;
  const call = {
    name: "canSubscribe",
    timeoutMs: activation.actor.options.onConnectTimeout,
    about: { conn: () => connection.view },
    commit: "must",
  } as const;
  const answer = await callHook(activation, canSubscribe, call);
  if (typeof answer !== "boolean") throw new TypeError(`canSubscribe of "${eventName}" must return true or false`);
  if (!answer) throw new ActorError("auth", "forbidden", `You may not subscribe to "${eventName}"`);
}

function sendError(
  activation: ActorActivation,
  connection: Connection,
  thrown: unknown,
  actionId: bigint | null,
  call?: { readonly action: string },
): void {
  const { error } = tellFailure(thrown, activation.ports, activation.record, true, call);
  connection.send(encodeFrame(connection, { tag: "Error", val: { ...error, actionId } }));
}
