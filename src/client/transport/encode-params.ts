import {
  ActorError,
  encodeJson,
  formatSubprotocols,
  type Encoding,
  MAX_CONNECTION_PARAMS_BYTES,
} from "../../protocol/index.js";

/** The server is our own: every value keeps its kind. */
const EXTENDED = { extended: true };

/** Connection params as JSON that fits in a header. */
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
  /** The user's own. */
  readonly protocols?: readonly string[] | undefined;
}

/** What a socket offers as subprotocols. Throws `request/too_large` (413) for params over 4 KiB. */
export function socketProtocols({ encoding, token, params, protocols }: SocketProtocols): string[] {
  const text = params === undefined ? undefined : encodeJson(params, EXTENDED);
  // As on the server. Larger ones might not even reach it, and say nothing of why.
  if (text !== undefined && new TextEncoder().encode(text).length > MAX_CONNECTION_PARAMS_BYTES) {
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
