import { CallbackContext, READY } from "./context.js";
import { describe } from "./describe.js";
import { callHook } from "./hook.js";
import { LEASE_EXTENSION_MS } from "./lease.js";
import type { ActorRuntime } from "./runtime.js";

/** Deadline of an actor that is marked as destroyed, until nothing of it is left. */
export const DESTROY = "destroy";

/**
 * The last part of an activation that ends on purpose: signals fire, the hook runs, and what is kept awake or waited for
 * may finish; all of it within `sleepGracePeriod`. Vars, state and calls to others are there until this resolves. Never
 * rejects: what the hook throws is logged.
 */
export async function shutDown(runtime: ActorRuntime, hook: "onDestroy"): Promise<void> {
  const graceMs = runtime.actor.options.sleepGracePeriod;
  const until = runtime.ports.now() + graceMs;
  runtime.shutdown.begin();
  await callHook(runtime, hook, runtime.actor.config[hook], (stage) => new CallbackContext(runtime, stage), READY, graceMs, []).catch((error: unknown) =>
    runtime.ports.log.error({ msg: `${hook} failed; the actor ends all the same`, error: describe(error) }),
  );
  await runtime.background.settled(until);
}

/**
 * The alarm came while that goes on. It does not wait for the hook's end (D10): another one stands behind it, should a crash
 * cut it off. False: nothing of the activation acts any more.
 */
export function staysAwake(runtime: ActorRuntime): boolean {
  const { wakes, record, ports } = runtime;
  wakes.armed(null);
  wakes.changed();
  if (record.destroyed) runtime.setDeadline(DESTROY, { at: ports.now() + LEASE_EXTENSION_MS });
  wakes.extendLease();
  return runtime.commit();
}
