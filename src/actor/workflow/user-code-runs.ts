import type { RunningCode, UserCodeWatch } from "../ports.js";

/** Tells a watch of a run's scopes that run user code, as one: called when the first begins, and when none is left. */
export function userCodeRuns(watch: UserCodeWatch): (runs: boolean) => void {
  let running: RunningCode | undefined;
  return (runs) => {
    if (runs) running ??= watch.begin("its workflow, outside of steps");
    else {
      running?.end();
      running = undefined;
    }
  };
}
