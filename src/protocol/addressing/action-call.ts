import { ActorError } from "../errors/errors.js";
import type { ActionMessage } from "../messages/action-message.js";
import { isEncoding, type Encoding } from "../messages/messages.js";
import { own } from "../own.js";
import { ENVELOPE_VERSION } from "../version.js";
import type { CallEnvelope, Creation } from "./envelope.js";

/**
 * Worker → object: an action's call with the caller's own message, which the object decodes, and whose answer it encodes. Its
 * parts are positional, which the platform's RPC carries for less than an envelope. More may follow in a later release: an
 * object ignores those it does not know. An object of version 1 sees an envelope without a version, which it refuses before
 * it does anything, and its refusal is of version 1; the Worker then sends an envelope.
 */
export type ActionCall = readonly [
  v: number,
  name: string,
  key: readonly string[],
  generation: string | undefined,
  creation: Creation["mode"],
  input: Uint8Array | undefined,
  action: string,
  encoding: Encoding,
  extended: boolean,
  body: Uint8Array,
  params: Uint8Array | undefined,
  method: string,
  url: string,
  /** Names and values in turn. */
  headers: readonly string[],
];

/** The arguments of an envelope whose message holds them. */
const NONE = new Uint8Array();

/** An action's call from outside. */
export interface OutsideAction {
  readonly name: string;
  readonly message: ActionMessage;
  /** Connection params, bytes of the storage codec. */
  readonly params: Uint8Array | undefined;
  readonly request: NonNullable<CallEnvelope["request"]>;
}

/** Puts an action's call in its positional form. */
export function formatActionCall(
  { address, creation }: Pick<CallEnvelope, "address" | "creation">,
  { name: action, message, params, request }: OutsideAction,
): ActionCall {
  const { encoding, extended, body } = message;
  const { method, url, headers } = request;
  const { name, key, generation } = own(address);
  const { mode, input } = own(creation as { mode: Creation["mode"]; input?: Uint8Array });
  const flat: string[] = [];
  for (const [header, value] of headers) flat.push(header, value);
  return [
    ENVELOPE_VERSION,
    name,
    key,
    generation,
    mode,
    input,
    action,
    encoding,
    extended,
    body,
    params,
    method,
    url,
    flat,
  ];
}

/**
 * The envelope of an action's call, without its arguments, and the message that holds them.
 *
 * @throws {actor/invalid_request} when its encoding is none
 */
export function readActionCall(call: ActionCall): { envelope: CallEnvelope; name: string; message: ActionMessage } {
  const [v, actor, key, generation, mode, input, name, encoding, extended, body, params, method, url, flat] = call;
  if (!isEncoding(encoding))
    throw new ActorError("actor", "invalid_request", "The call of an action names no encoding");
  const headers: [string, string][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) headers.push([flat[at] ?? "", flat[at + 1] ?? ""]);
  return {
    name,
    message: { encoding, extended, body },
    envelope: own({
      v,
      address: own({ name: actor, key, ...(generation !== undefined && { generation }) }),
      creation: own({ mode, ...(input !== undefined && { input }) }) as Creation,
      operation: own({ kind: "action", name, args: NONE } as const),
      ...(params !== undefined && { params }),
      request: { method, url, headers },
    }),
  };
}
