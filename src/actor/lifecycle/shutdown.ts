import { ActorError } from "../../protocol/index.js";
import { describe } from "../activation/thrown.js";
import { callHook } from "../callbacks/call-hook.js";
import type { ActorRuntime } from "./actor-runtime.js";

/**
 * The last part of an activation that ends on purpose: signals fire, the hook runs, and what is kept awake or waited for
 * may finish; all of it within `sleepGracePeriod`. Vars, state and calls to others are there until this resolves. Never
 * rejects: what the hook throws is logged.
 */
export async function shutDown(runtime: ActorRuntime, hook: "onDestroy" | "onSleep"): Promise<void> {
  const graceMs = runtime.actor.options.sleepGracePeriod;
  const until = runtime.ports.now() + graceMs;
  runtime.shutdown.begin();
  await callHook(runtime, runtime.actor.config[hook], { name: hook, timeoutMs: graceMs }).catch((error: unknown) =>
    runtime.ports.log.error({ msg: `${hook} failed; the actor ends all the same`, error: describe(error) }),
  );
  await runtime.background.settled(until);
}

/**
 * The actor goes to sleep: what is dirty and the lease are committed, then as above; the run handler has that time too.
 * Whatever comes next finds an activation that begins anew, as after an eviction. A crash in between leaves the lease and
 * the deadline: `onSleep` comes again later.
 */
export async function goToSleep(runtime: ActorRuntime): Promise<void> {
  const { sleep, shutdown } = runtime;
  shutdown.close();
  sleep.begun();
  if (!runtime.commit()) return;
  runtime.parts.tell("suspend");
  if (runtime.lease) await runtime.confirmed();
  runtime.background.waitFor("The run handler", runtime.runHandler.ended);
  await shutDown(runtime, "onSleep");
  // Destroyed meanwhile: that goes on.
  if (runtime.record.destroyed) return;
  await Promise.all(
    runtime.connections.bound.map((each) =>
      runtime.connections.disconnect(each, { code: 1001, reason: "actor.sleeping" }),
    ),
  ).catch((error: unknown) => {
    runtime.ports.log.error({
      msg: "Not every connection was ended as the actor went to sleep",
      error: describe(error),
    });
  });
  sleep.done();
  runtime.commit();
  runtime.stateChanges.tell();
  runtime.end(new ActorError("actor", "aborted", "The actor went to sleep"));
}

/**
 * The alarm came while that goes on. It does not wait for the hook's end (ALARM-9): another one stands behind it, should a crash
 * cut it off. False: nothing of the activation acts any more.
 */
export function staysAwake(runtime: ActorRuntime): boolean {
  const { wakes } = runtime;
  wakes.setArmedAt(null);
  wakes.markStale();
  // With a lease, what is due is in hand: without one, each alarm would ask for the next at once.
  wakes.holdLease();
  wakes.extendLease();
  return runtime.commit();
}
