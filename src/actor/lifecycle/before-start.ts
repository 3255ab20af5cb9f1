import { ActorError } from "../../protocol/index.js";
import type { ActorRuntime } from "./actor-runtime.js";

/**
 * Lets `act` change an actor that has not started, and commit that. `runtime` has its state and serves nothing. The start that
 * follows finds what an activation was cut off at, as if nothing had been in between (ALARM-13).
 */
export async function changeBeforeStart<T>(runtime: ActorRuntime, act: (runtime: ActorRuntime) => T): Promise<T> {
  const { alarm, store, ports } = runtime;
  const armedAt = await store.getAlarm();
  const found = alarm.cutOffLease(armedAt, ports.now());
  alarm.setArmedAt(armedAt);
  // The alarm alone may say that work was cut off, and the change may move it: the lease gets its row.
  if (found) alarm.setLease(found);
  try {
    return act(runtime);
  } finally {
    runtime.end(new ActorError("actor", "restarting", "The actor was changed by an operator before its start"));
  }
}
