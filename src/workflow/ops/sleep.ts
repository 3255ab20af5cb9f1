import { ActorError } from "../../protocol/index.js";
import { LAST_TIME_MS } from "../numbers.js";
import type { Scope } from "../scope.js";

/**
 * `ctx.sleep` and `ctx.sleepUntil`: wait for a stored deadline, however far away.
 *
 * Entry: `sleep` with `dueAt`, committed before the wait. Its end costs no row: a later entry of the scope implies it, or the
 * next commit marks it. Replay: the recorded deadline counts, whatever the code says now. A deadline in the past completes
 * at once and is recorded.
 */
export function sleep(scope: Scope, name: string, durationMs: number): Promise<void> {
  if (typeof durationMs !== "number" || !(Math.abs(durationMs) <= LAST_TIME_MS - scope.activation.ports.now())) {
    return refuse(name, `a finite duration in ms that ends at a valid date, not ${String(durationMs)}`);
  }
  return sleepTo(scope, name, () => scope.activation.ports.now() + Math.max(0, durationMs));
}

/** Like `sleep`, until a time in epoch ms or a Date. */
export function sleepUntil(scope: Scope, name: string, time: number | Date): Promise<void> {
  const at = time instanceof Date ? time.getTime() : time;
  if (typeof at !== "number" || !(Math.abs(at) <= LAST_TIME_MS)) {
    return refuse(name, `a time in epoch ms or a valid Date, not ${String(time)}`);
  }
  return sleepTo(scope, name, () => at);
}

function sleepTo(scope: Scope, name: string, deadline: () => number): Promise<void> {
  return scope.operate("sleep", name, (operation) => {
    const { activation } = operation;
    const recorded = operation.entry;
    const entry = recorded ?? activation.newEntry("sleep", operation.location);
    if (
      recorded &&
      (recorded.status === "completed" ||
        activation.isFinishedQuietly(recorded) ||
        activation.history.isPassed(recorded))
    ) {
      operation.fulfil(undefined);
      return;
    }
    if (activation.collector) return operation.park();
    const dueAt = entry.dueAt ?? deadline();
    if (!recorded && dueAt <= activation.ports.now()) {
      activation.complete(entry);
      operation.fulfil(undefined);
      return;
    }
    // A recorded deadline that is already due waits its turn: what is due at one wake runs in order of stored times (ALARM-6).
    if (!recorded) {
      entry.dueAt = dueAt;
      activation.put(entry);
    }
    operation.park();
    const wait = {
      at: dueAt,
      seq: entry.seq,
      fire: (): void => {
        activation.finishQuietly(entry);
        operation.fulfil(undefined);
      },
    };
    activation.waiting.addWait(wait);
    operation.onEnd(() => activation.waiting.removeWait(wait));
  }) as Promise<void>;
}

function refuse(name: string, wanted: string): Promise<never> {
  return Promise.reject(new ActorError("workflow", "invalid_time", `Sleep "${name}" needs ${wanted}`));
}
