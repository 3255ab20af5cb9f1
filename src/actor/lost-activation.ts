import { ActorError } from "../protocol/index.js";

/** Why an activation whose commit failed is over: storage that is full stays so, anything else is over with the instance. */
export function lossOf(cause: unknown): { readonly reason: ActorError; readonly isFull: boolean } {
  const isFull = /SQLITE_FULL|database or disk is full/i.test(String(cause));
  return { isFull, reason: isFull ? storageFull(cause) : restarting(cause) };
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
