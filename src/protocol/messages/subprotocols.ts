import { ActorError } from "../errors/errors.js";
import { isEncoding, type Encoding } from "./messages.js";

/** What the opening of a socket says of itself. A browser gives a socket no headers: all of it travels as subprotocols. */
export interface SocketOpening {
  readonly encoding: Encoding;
  /** Connection params as JSON; undefined: none. */
  readonly params?: string | undefined;
  readonly token?: string | undefined;
  /** Whether the client is our own: it revives every tag, so that every kind of value may be sent to it, and comes from it. */
  readonly isOwnClient?: boolean;
  /** It pings after each mebibyte that it has received. */
  readonly pings?: boolean;
  /** For what kind of thing the socket is ("actor"), and for which one, where the URL names none. */
  readonly target?: string | undefined;
  readonly actorId?: string | undefined;
  /** The user's own ones. */
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
/** The client pings after each mebibyte that it has received. */
const PINGS = "perdure_pings.1";
/** Of the published clients, and without meaning here. */
const IGNORED = /^rivet_(?:skip_ready_wait$|test_ack_hook\.|namespace\.|runner\.)/;

/** What to offer as subprotocols. */
export function formatSubprotocols(opening: SocketOpening): string[] {
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
 * What a request's `sec-websocket-protocol` says; JSON without an encoding in it. Throws `encoding/unsupported` (400) on an
 * unknown encoding, `actor/invalid_request` (400) on params or a token that are not percent-encoded UTF-8.
 */
export function parseSubprotocols(header: string | null): SocketOpening {
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
  throw new ActorError("encoding", "unsupported", `The subprotocol ${ENCODING}… names json, cbor or bare.`);
}

/** A subprotocol is a token of HTTP: `encodeURIComponent` leaves parentheses, which no token has. */
function encodeToken(text: string): string {
  return encodeURIComponent(text).replace(/[()]/g, (character) => (character === "(" ? "%28" : "%29"));
}

function decodeToken(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ActorError("actor", "invalid_request", `${what} among the subprotocols are not percent-encoded UTF-8.`);
  }
}
