import { ActorError } from "../../protocol/index.js";
import { describe } from "../activation/thrown.js";
import { callHook } from "../callbacks/call-hook.js";
import type { ActorRuntime } from "./actor-runtime.js";

/**
 * Shuts an activation down on purpose: aborts its signals, runs the hook and lets background work finish, all within
 * `sleepGracePeriod`. Vars, state and calls to other actors work until this resolves. Never rejects: errors of the hook are
 * logged.
 */
export async function shutDown(runtime: ActorRuntime, hook: "onDestroy" | "onSleep"): Promise<void> {
  const graceMs = runtime.actor.options.sleepGracePeriod;
  const until = runtime.ports.now() + graceMs;
  runtime.shutdown.begin();
  await callHook(runtime, runtime.actor.config[hook], { name: hook, timeoutMs: graceMs }).catch((error: unknown) =>
    runtime.ports.log.error({ msg: `${hook} failed; the actor shuts down anyway`, stack: describe(error) }),
  );
  await runtime.background.settled(until);
}

/**
 * Puts the actor to sleep: commits dirty changes and the lease, then shuts down; the run handler may finish as well. The
 * next event starts a new activation, as after an eviction. A crash in between leaves the lease and the deadline, so
 * `onSleep` runs again later.
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
  // Destroyed meanwhile: the destroy goes on.
  if (runtime.record.destroyed) return;
  await Promise.all(
    runtime.connections.bound.map((each) =>
      runtime.connections.disconnect(each, { code: 1001, reason: "actor.sleeping" }),
    ),
  ).catch((error: unknown) => {
    runtime.ports.log.error({
      msg: "Not every connection was closed when the actor went to sleep",
      stack: describe(error),
    });
  });
  sleep.done();
  runtime.commit();
  runtime.stateChanges.tell();
  runtime.end(new ActorError("actor", "aborted", "The actor went to sleep"));
}

/**
 * The alarm came during the shutdown. It does not wait for the hook (ALARM-9) but sets the next alarm, in case of a crash.
 * Returns false if the activation is lost.
 */
export function rearmDuringShutdown(runtime: ActorRuntime): boolean {
  const { alarm } = runtime;
  alarm.setArmedAt(null);
  alarm.markStale();
  // Without a lease, deadlines that are due would set the next alarm for now, again and again.
  alarm.holdLease();
  alarm.extendLease();
  return runtime.commit();
}
