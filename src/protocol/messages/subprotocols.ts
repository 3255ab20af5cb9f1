import { ActorError } from "../errors/errors.js";
import { isEncoding, type Encoding } from "./messages.js";

/** What the subprotocols of a WebSocket upgrade carry: browsers cannot set headers on a socket. */
export interface SubprotocolFields {
  readonly encoding: Encoding;
  /** Connection params as JSON. */
  readonly params?: string | undefined;
  readonly token?: string | undefined;
  /** Whether the client is our own: it supports every tag, so values keep their type both ways. */
  readonly isOwnClient?: boolean;
  /** The client pings after each mebibyte received. */
  readonly pings?: boolean;
  /** The kind of target ("actor") and its id, if the URL has none. */
  readonly target?: string | undefined;
  readonly actorId?: string | undefined;
  /** The user's own subprotocols. */
  readonly others?: readonly string[];
}

/** The subprotocol that the server selects. */
export const SOCKET_PROTOCOL = "rivet";
const ENCODING = "rivet_encoding.";
const PARAMS = "rivet_conn_params.";
const TOKEN = "rivet_token.";
const TARGET = "rivet_target.";
const ACTOR = "rivet_actor.";
const OWN_CLIENT = "perdure_values.1";
const PINGS = "perdure_pings.1";
/** Sent by RivetKit's clients and meaningless here. */
const IGNORED = /^rivet_(?:skip_ready_wait$|test_ack_hook\.|namespace\.|runner\.)/;

/** The subprotocols that a client offers. */
export function formatSubprotocols(opening: SubprotocolFields): string[] {
  const {
    encoding,
    params,
    token,
    isOwnClient = false,
    pings = false,
    target = "actor",
    actorId,
    others = [],
  } = opening;
  return [
    SOCKET_PROTOCOL,
    ENCODING + encoding,
    ...(isOwnClient ? [OWN_CLIENT] : []),
    ...(pings ? [PINGS] : []),
    ...(params === undefined ? [] : [PARAMS + encodeToken(params)]),
    ...(token === undefined ? [] : [TOKEN + encodeToken(token)]),
    ...(actorId === undefined ? [] : [TARGET + target, ACTOR + actorId]),
    ...others,
  ];
}

/**
 * Parses a `sec-websocket-protocol` header. The encoding defaults to JSON.
 *
 * @throws {encoding/unsupported} when the encoding is unknown
 * @throws {actor/invalid_request} when params or token are not percent-encoded UTF-8
 */
export function parseSubprotocols(header: string | null): SubprotocolFields {
  const others: string[] = [];
  let encoding: Encoding = "json";
  let isOwnClient = false;
  let pings = false;
  let params: string | undefined;
  let token: string | undefined;
  let target: string | undefined;
  let actorId: string | undefined;
  for (const protocol of (header ?? "").split(",").map((text) => text.trim())) {
    if (protocol.startsWith(ENCODING)) encoding = encodingOf(protocol.slice(ENCODING.length));
    else if (protocol.startsWith(PARAMS)) params = decodeToken(protocol.slice(PARAMS.length), "The connection params");
    else if (protocol.startsWith(TOKEN)) token = decodeToken(protocol.slice(TOKEN.length), "The token");
    else if (protocol.startsWith(TARGET)) target = protocol.slice(TARGET.length);
    else if (protocol.startsWith(ACTOR)) actorId = protocol.slice(ACTOR.length);
    else if (protocol === OWN_CLIENT) isOwnClient = true;
    else if (protocol === PINGS) pings = true;
    else if (protocol !== "" && protocol !== SOCKET_PROTOCOL && !IGNORED.test(protocol)) others.push(protocol);
  }
  return { encoding, params, token, isOwnClient, pings, target, actorId, others };
}

function encodingOf(text: string): Encoding {
  if (isEncoding(text)) return text;
  throw new ActorError("encoding", "unsupported", `The subprotocol ${ENCODING}… must name json, cbor or bare`);
}

/** A subprotocol must be an HTTP token: `encodeURIComponent` leaves parentheses, which are not allowed in one. */
function encodeToken(text: string): string {
  return encodeURIComponent(text).replace(/[()]/g, (character) => (character === "(" ? "%28" : "%29"));
}

function decodeToken(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ActorError("actor", "invalid_request", `${what} in the subprotocols must be percent-encoded UTF-8`);
  }
}
