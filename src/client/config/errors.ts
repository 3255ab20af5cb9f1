import { ActorError, type ActorErrorOptions } from "../../protocol/page.js";

/**
 * An error of the client itself, with the group `client`.
 *
 * @example
 *     if (error instanceof ActorClientError && error.code === "network_error") showOffline();
 */
export class ActorClientError extends ActorError {
  constructor(code: string, message: string, options: ActorErrorOptions = {}) {
    super("client", code, message, { public: true, ...options });
    Object.defineProperty(this, "name", {
      value: new.target.name,
      writable: true,
      configurable: true,
      enumerable: false,
    });
  }
}

/**
 * The answer of the server, or of something in front of it, is not one of the protocol: `client/malformed_response`.
 */
export class MalformedResponseMessage extends ActorClientError {
  constructor(endpoint: string, status: number, options: { cause?: unknown } = {}) {
    const message =
      `${endpoint} answered (status ${status}) with something that is not an actor's JSON. Is it the URL of ` +
      "the right server?";
    super("malformed_response", message, { metadata: { endpoint, status }, ...options });
  }
}

/** No answer arrived: `client/network_error`. The call may have run. */
export function networkError(endpoint: string, cause: unknown): ActorClientError {
  return new ActorClientError("network_error", `No answer from ${endpoint}. Is the server running there?`, {
    metadata: { endpoint },
    cause,
  });
}

/** The runtime has no `WebSocket`: `client/no_web_socket`. */
export function noWebSocket(): ActorClientError {
  const message =
    "This runtime has no global WebSocket (Node has one from version 22 on). Give one: createClient({ webSocket }).";
  return new ActorClientError("no_web_socket", message);
}
