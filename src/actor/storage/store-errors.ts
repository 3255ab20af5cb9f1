import { ActorError } from "../../protocol/index.js";

/** Why a failed commit ends the activation. Full storage stays full, and damage damage; any other cause ends with this instance. */
export function lossOf(cause: unknown): { readonly reason: ActorError; readonly stays: boolean } {
  if (isCorrupt(cause)) return { stays: true, reason: cause };
  const isFull = /SQLITE_FULL|database or disk is full/i.test(String(cause));
  return { stays: isFull, reason: isFull ? storageFull(cause) : restarting(cause) };
}

function isCorrupt(cause: unknown): cause is ActorError {
  return ActorError.isActorError(cause) && cause.group === "storage" && cause.code === "corrupt";
}

export function restarting(cause?: unknown): ActorError {
  return new ActorError("actor", "restarting", "The actor is restarting; try again", {
    metadata: { retryable: true },
    ...(cause === undefined ? {} : { cause }),
  });
}

function storageFull(cause: unknown): ActorError {
  return new ActorError("storage", "full", "The actor's storage is full; delete data or destroy the actor", { cause });
}

/** Converts an error of the database to one with a code. Errors that have a code are returned as they are. */
export function sqlError(thrown: unknown, activation: { readonly abortSignal: AbortSignal }): Error {
  if (ActorError.isActorError(thrown)) return thrown as ActorError;
  // The store refuses statements of an activation that has ended.
  if (activation.abortSignal.aborted) return activation.abortSignal.reason as Error;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const because = { cause: thrown };
  if (isReset(thrown))
    return new ActorError("actor", "restarting", "The actor is restarting; try again", {
      metadata: { retryable: true },
      ...because,
    });
  if (/SQLITE_FULL|database or disk is full/i.test(text)) {
    return new ActorError("storage", "full", "The actor's storage is full; delete data or destroy the actor", because);
  }
  if (/SQLITE_CONSTRAINT|constraint failed/i.test(text))
    return new ActorError("sqlite", "constraint_failed", text, because);
  return new ActorError("sqlite", "statement_failed", text, because);
}

/** The platform marks errors of an instance that it has reset. */
function isReset(thrown: unknown): boolean {
  return (
    typeof thrown === "object" &&
    thrown !== null &&
    (thrown as { durableObjectReset?: unknown }).durableObjectReset === true
  );
}
