import {
  ActorError,
  encodeJson,
  formatSubprotocols,
  type Encoding,
  MAX_CONNECTION_PARAMS_BYTES,
  utf8Length,
} from "../../protocol/page.js";

/** The server is Perdure, which reads every kind of value. */
const EXTENDED = { extended: true };

/** Connection params as JSON that is valid in a header. */
export function asciiJson(value: unknown): string {
  return encodeJson(value, EXTENDED).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export interface SocketProtocols {
  readonly encoding: Encoding;
  readonly token?: string | undefined;
  /** Connection params; undefined: none. */
  readonly params?: unknown;
  /** The user's subprotocols. */
  readonly protocols?: readonly string[] | undefined;
}

/**
 * The subprotocols a socket offers.
 *
 * @throws {request/too_large} when the params are larger than 4 KiB
 */
export function socketProtocols({ encoding, token, params, protocols }: SocketProtocols): string[] {
  const text = params === undefined ? undefined : encodeJson(params, EXTENDED);
  // The server's limit, checked here because larger params might not reach it, without a reason.
  if (text !== undefined && utf8Length(text) > MAX_CONNECTION_PARAMS_BYTES) {
    const message = `Connection params have at most ${MAX_CONNECTION_PARAMS_BYTES} bytes.`;
    throw new ActorError("request", "too_large", message, { metadata: { limitBytes: MAX_CONNECTION_PARAMS_BYTES } });
  }
  return formatSubprotocols({
    encoding,
    token,
    params: text,
    isOwnClient: true,
    pings: protocols === undefined,
    ...(protocols !== undefined && { others: protocols }),
  });
}
