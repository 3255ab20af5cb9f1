import { ActorError } from "../../protocol/index.js";
import { describe } from "../activation/thrown.js";
import type { ActorRuntime } from "./actor-runtime.js";
import { shutDown } from "./shutdown.js";

const MAX_TRIES = 10;

/** Marks the actor as destroyed, in one commit with all dirty changes and an alarm for now. This is irreversible. */
export function markDestroyed(runtime: ActorRuntime): boolean {
  runtime.putRecord({ destroyed: true });
  runtime.deadlines.destroy.put({ at: runtime.ports.now() });
  // Rejects the open operations of the run; none of them settles after that (START-9).
  runtime.parts.tell("destroyed");
  return runtime.commit();
}

/**
 * Ends a marked actor: aborts its signals, runs `onDestroy` and lets background work finish, all within
 * `sleepGracePeriod`; then deletes everything, retrying until it succeeds. After a crash in between the alarm continues.
 * An empty object reads as not found (START-9).
 */
export async function finishDestroy(runtime: ActorRuntime): Promise<void> {
  await shutDown(runtime, "onDestroy");
  // After `onDestroy`, so that connections receive what it sent.
  await runtime.connections.disconnectAll({ code: 1011, reason: "actor.destroyed" }).catch((error: unknown) => {
    runtime.ports.log.error({
      msg: "Not every connection was closed when the actor was destroyed",
      stack: describe(error),
    });
  });
  for (const socket of runtime.ports.replySockets()) socket.close(1011, "actor.destroyed");
  // Rejects calls that still run. The workflow's operations were evicted with the mark.
  runtime.end(new ActorError("actor", "destroyed", "The actor was destroyed"));
  for (let tries = 1; ; tries += 1) {
    try {
      await runtime.store.deleteAll();
      return;
    } catch (error) {
      if (tries >= MAX_TRIES) throw error;
      await runtime.ports.yield();
    }
  }
}
