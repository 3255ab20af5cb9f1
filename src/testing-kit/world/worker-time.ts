import { AsyncResource } from "node:async_hooks";
import type { ConnectionPorts } from "../../client/in-process.js";
import type { WaitPorts } from "../../router/index.js";
import type { ManualClock } from "../../testing/index.js";

/** Time and randomness of the Worker and of its clients, by the world's clock: no test waits for either. */
export function workerTime(clock: ManualClock): WaitPorts & ConnectionPorts {
  let tokens = 0;
  return {
    now: () => clock.now(),
    sleep: (ms) => clock.delay(ms),
    random: () => 0.5,
    // What it begins is begun by whoever set it, not by whoever moves the clock.
    setTimer: (ms, action) => clock.setTimer(clock.now() + ms, AsyncResource.bind(action)),
    newToken: () => (tokens += 1).toString(16).padStart(32, "0"),
  };
}
