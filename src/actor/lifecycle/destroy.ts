import { ActorError } from "../../protocol/index.js";
import { describe } from "../activation/thrown.js";
import type { ActorRuntime } from "./actor-runtime.js";
import { shutDown } from "./shutdown.js";

const MAX_TRIES = 10;

/** Marks the actor as being destroyed, in one commit with all that is dirty and an alarm now: it cannot come back. */
export function markDestroyed(runtime: ActorRuntime): boolean {
  runtime.putRecord({ destroyed: true });
  runtime.deadlines.destroy.put({ at: runtime.ports.now() });
  // The open operations of the run reject, then nothing of it settles any more (START-9).
  runtime.parts.tell("destroyed");
  return runtime.commit();
}

/**
 * Ends a marked actor: its signals fire, `onDestroy` runs, what is kept awake or waited for may finish, all within
 * `sleepGracePeriod`; then everything is deleted until that succeeds. A crash in between is taken up by the alarm; a blank
 * object reads as not found (START-9).
 */
export async function finishDestroy(runtime: ActorRuntime): Promise<void> {
  await shutDown(runtime, "onDestroy");
  // They see what `onDestroy` sent, then the end.
  await runtime.connections.disconnectAll({ code: 1011, reason: "actor.destroyed" }).catch((error: unknown) => {
    runtime.ports.log.error({
      msg: "Not every connection was ended as the actor was destroyed",
      error: describe(error),
    });
  });
  for (const socket of runtime.ports.replySockets()) socket.close(1011, "actor.destroyed");
  // Calls that still run are told; the workflow's operations were evicted with the mark.
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
