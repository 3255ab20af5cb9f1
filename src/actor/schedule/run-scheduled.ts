import { ActorError, decodeValue } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { runAction } from "../callbacks/dispatch.js";
import type { ScheduledFireInfo } from "../api/schedule-types.js";

/**
 * Runs an action for a schedule or a job. `settle` updates their rows at its end, in one commit with the action's own
 * changes.
 * @throws whatever the action throws
 */
export function runScheduled(
  activation: ActorActivation,
  call: { readonly action: string; readonly args: Uint8Array },
  info: ScheduledFireInfo,
  settle: (failure?: { readonly thrown: unknown }) => void,
): Promise<void> {
  const action = { name: call.action, args: () => decodeValue(call.args) as unknown[], from: { firedBy: info } };
  const conclude = async (ran: Promise<unknown>): Promise<void> => {
    try {
      await ran;
    } catch (thrown) {
      settle({ thrown });
      throw thrown;
    }
    settle();
  };
  return runAction(activation, action, { commit: "may", conclude });
}

/** What the check of the limit needs from the actor. */
export type ScheduleLimitHost = Pick<ActorActivation, "actor" | "deadlines" | "isReady" | "ports">;

/**
 * Checks that one more schedule or job fits; they count together. In hooks of the start it only logs a warning, so that
 * an actor at its limit can start.
 * @throws {schedule/max_schedules_exceeded} when the actor has `maxSchedules` already
 */
export function checkScheduleRoom(activation: ScheduleLimitHost): void {
  const limit = activation.actor.options.maxSchedules;
  const { schedules, jobs } = activation.deadlines;
  const count = schedules.all().length + jobs.all().length;
  if (count < limit) return;
  const error = new ActorError("schedule", "max_schedules_exceeded", `An actor can have at most ${limit} schedules`, {
    metadata: { limit },
  });
  if (activation.isReady) throw error;
  activation.ports.log.warn({
    msg: "A hook of the start set a schedule beyond the limit; it is stored all the same",
    error: error.message,
  });
}
