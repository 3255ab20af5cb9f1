import { ActorError } from "../../protocol/index.js";
import { ActorClientError } from "../config/errors.js";

/** A call over a connection that was disposed of, or was waiting when that happened: `client/connection_disposed`. */
export class ActorConnDisposed extends ActorClientError {
  constructor() {
    super("connection_disposed", "The connection was disposed of.");
  }
}

/** A call that was sent, and whose answer the lost connection did not bring: `client/connection_closed`. It may have run. */
export function connectionClosed(action: string, cause: ActorError | undefined): ActorClientError {
  const message = `The connection was lost before ${action} was answered. It may have run; it is not sent again.`;
  return new ActorClientError("connection_closed", message, cause === undefined ? {} : { cause });
}

/** A call that waited for one life of the actor, and found another: `client/actor_changed`. It was not sent. */
export function actorChanged(action: string): ActorClientError {
  return new ActorClientError(
    "actor_changed",
    `The actor was destroyed and made anew while ${action} waited for the connection. It was not sent.`,
  );
}

/** A call whose time was over: `client/call_timed_out`. */
export function callTimedOut(action: string, timeoutMs: number, wasSent: boolean): ActorClientError {
  const outcome = wasSent ? "It may have run, or may still run." : "It was not sent.";
  return new ActorClientError("call_timed_out", `${action} was not answered within ${timeoutMs} ms. ${outcome}`, {
    metadata: { timeoutMs, wasSent },
  });
}

/** A server from which nothing comes any more, not even when it is asked: `client/connection_lost`. */
export function connectionLost(): ActorClientError {
  return new ActorClientError("connection_lost", "Nothing came from the server any more. The connection is made anew.");
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

/** Close codes by which a server says that it will not talk: data it does not take, a rule that was broken. */
const REFUSALS = new Set([1003, 1008]);

/**
 * What a close says. A reason "group.code", with "#" and an id of the server's log behind it if it has one, is that error;
 * codes of refusal are `client/connection_refused`; anything else says nothing.
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

/** How an attempt, or an open connection, came to its end. */
export interface Ending {
  readonly error: ActorError;
  /** Whether it was open: the server had let it in. */
  readonly wasOpen: boolean;
  /** Whether it was open at any time before. */
  readonly hasConnected: boolean;
  /** Attempts that failed, this one included. */
  readonly failures: number;
  /** Whether connecting makes the actor. */
  readonly creates: boolean;
}

/** Attempts until an endpoint at which nothing ever answered counts as a wrong one: with their delays, 4 to 8 s. */
const MAX_FIRST_ATTEMPTS = 6;
const TRANSIENT = new Set([429, 502, 503, 504]);

/** Whether trying again is pointless: the same answer would come. */
export function isFinal({ error, wasOpen, hasConnected, failures, creates }: Ending): boolean {
  if (isTransient(error, creates))
    return error.code === "connection_open_failed" && !hasConnected && failures >= MAX_FIRST_ATTEMPTS;
  // Whatever the first answer is, it is the caller's to hear.
  if (!hasConnected) return true;
  if (error.group === "auth" || error.statusCode === 401 || error.statusCode === 403) return true;
  // What ended an open connection is not sent again; what refused an attempt would refuse the next one.
  return !wasOpen && error.statusCode >= 400 && error.statusCode < 500;
}

/** Whether it passes: the actor or the way to it is not there yet, or not any more. */
export function isTransient({ group, code, statusCode }: ActorError, creates: boolean): boolean {
  if (TRANSIENT.has(statusCode)) return true;
  if (group === "client") return code === "get_params_failed";
  return group === "actor" && (code === "destroyed" || (code === "not_found" && creates));
}
