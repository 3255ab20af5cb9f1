import { ActorError } from "../../protocol/page.js";
import { ActorClientError } from "../config/errors.js";

/**
 * A call over a disposed connection, or one that was waiting when it was disposed: `client/connection_disposed`.
 *
 * @example
 *     await connection.note("tea").catch((error) => {
 *       if (!(error instanceof ActorConnDisposed)) throw error;
 *     });
 */
export class ActorConnDisposed extends ActorClientError {
  constructor() {
    super("connection_disposed", "The connection was disposed of.");
  }
}

/** A sent call whose connection was lost before the answer: `client/connection_closed`. It may have run. */
export function connectionClosed(action: string, cause: ActorError | undefined): ActorClientError {
  const message = `The connection was lost before ${action} was answered. It may have run; it is not sent again.`;
  return new ActorClientError("connection_closed", message, cause === undefined ? {} : { cause });
}

/** A waiting call whose actor was destroyed and created again: `client/actor_changed`. It was not sent. */
export function actorChanged(action: string): ActorClientError {
  return new ActorClientError(
    "actor_changed",
    `The actor was destroyed and made anew while ${action} waited for the connection. It was not sent.`,
  );
}

/** A call that exceeded `callTimeout`: `client/call_timed_out`. */
export function callTimedOut(action: string, timeoutMs: number, wasSent: boolean): ActorClientError {
  const outcome = wasSent ? "It may have run, or may still run." : "It was not sent.";
  return new ActorClientError("call_timed_out", `${action} was not answered within ${timeoutMs} ms. ${outcome}`, {
    metadata: { timeoutMs, wasSent },
  });
}

/** A server that is silent and answers no ping: `client/connection_lost`. */
export function connectionLost(): ActorClientError {
  return new ActorClientError("connection_lost", "The server went silent. The connection is opened again.");
}

/** `getParams` threw: `client/get_params_failed`. */
export function getParamsFailed(cause: unknown): ActorClientError {
  return new ActorClientError("get_params_failed", "getParams threw; the connection tries again.", { cause });
}

/** No socket, or no first message on it: `client/connection_open_failed`. `place` is the endpoint, without secrets. */
export function openFailed(place: string, cause?: unknown): ActorClientError {
  const message = `No connection to ${place}. Is the server running there?`;
  return new ActorClientError("connection_open_failed", message, {
    metadata: { place },
    ...(cause !== undefined && { cause }),
  });
}

/** Close codes of a refusal: unsupported data, or a violated policy. */
const REFUSALS = new Set([1003, 1008]);

/**
 * The error a close carries, if any: a reason "group.code" (optionally with "#" and an error id of the server's log) is
 * that error; a code of refusal is `client/connection_refused`.
 */
export function closeError(code: number, reason: string): ActorError | undefined {
  const { group, name, id } =
    /^(?<group>[a-z][\w-]*)\.(?<name>[a-z][\w-]*)(?:#(?<id>.+))?$/i.exec(reason)?.groups ?? {};
  if (group !== undefined && name !== undefined) {
    const message = `The server closed the connection: ${group}/${name}.`;
    return new ActorError(group, name, message, {
      public: true,
      ...(id !== undefined && { metadata: { errorId: id } }),
    });
  }
  if (!REFUSALS.has(code)) return undefined;
  return new ActorClientError(
    "connection_refused",
    `The server closed the connection with ${code}${reason === "" ? "" : `: ${reason}`}.`,
  );
}

/** How an attempt or an open connection ended. */
export interface Ending {
  readonly error: ActorError;
  /** Whether it was open when it ended. */
  readonly wasOpen: boolean;
  /** Whether it was ever open. */
  readonly hasConnected: boolean;
  /** Failed attempts, including this one. */
  readonly failures: number;
  /** Whether connecting creates the actor. */
  readonly creates: boolean;
}

/** Attempts before an endpoint that never answered counts as wrong: 4 to 8 s with their delays. */
const MAX_FIRST_ATTEMPTS = 6;
const TRANSIENT = new Set([429, 502, 503, 504]);

/** Whether another attempt would get the same answer. */
export function isFinal({ error, wasOpen, hasConnected, failures, creates }: Ending): boolean {
  if (isTransient(error, creates))
    return error.code === "connection_open_failed" && !hasConnected && failures >= MAX_FIRST_ATTEMPTS;
  // The caller must see the first answer, whatever it is.
  if (!hasConnected) return true;
  if (error.group === "auth" || error.statusCode === 401 || error.statusCode === 403) return true;
  // An error that ended an open connection may not recur; one that refused an attempt would refuse the next.
  return !wasOpen && error.statusCode >= 400 && error.statusCode < 500;
}

/** Whether the error may pass: the actor, or the way to it, is temporarily missing. */
export function isTransient({ group, code, statusCode }: ActorError, creates: boolean): boolean {
  if (TRANSIENT.has(statusCode)) return true;
  if (group === "client") return code === "get_params_failed";
  return group === "actor" && (code === "destroyed" || (code === "not_found" && creates));
}
