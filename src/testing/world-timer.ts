import type { Timer } from "../actor/ports.js";
import type { ManualClock } from "./manual-clock.js";

/**
 * The one timer of an activation, on the world's clock. `held` has what cancels each timer that the process holds; `enter`
 * runs what it fires. A process that is not alive sets none.
 */
export function worldTimer(
  clock: ManualClock,
  held: Set<() => void>,
  beforeSet: () => void,
  { isAlive, enter }: { isAlive(): boolean; enter(run: () => void): void },
): Timer {
  let cancel: (() => void) | undefined;
  const clear = (): void => {
    if (!cancel) return;
    cancel();
    held.delete(cancel);
    cancel = undefined;
  };
  return {
    clear,
    set: (at, fire) => {
      clear();
      if (!isAlive()) return;
      beforeSet();
      const stop = clock.setTimer(at, () => {
        held.delete(stop);
        cancel = undefined;
        enter(fire);
      });
      cancel = stop;
      held.add(stop);
    },
  };
}
