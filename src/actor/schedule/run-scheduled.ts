import { ActorError, decodeValue } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { runAction } from "../callbacks/dispatch.js";
import type { ScheduledFireInfo } from "../api/schedule-types.js";

/**
 * Runs an action that nobody called. `settle`: what its end changes in the rows, one commit with what it changed itself.
 * @throws what it throws
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

/**
 * One-shots and recurring jobs count together.
 * @throws schedule/max_schedules_exceeded unless there may be one more; hooks of a start are only warned, so that an
 * actor at its limit can start
 */
export function checkScheduleRoom(activation: ActorActivation): void {
  const limit = activation.actor.options.maxSchedules;
  const { schedules, jobs } = activation.deadlines;
  const count = schedules.all().length + jobs.all().length;
  if (count < limit) return;
  const error = new ActorError("schedule", "max_schedules_exceeded", `This actor may have ${limit} schedules`, {
    metadata: { limit },
  });
  if (activation.isReady) throw error;
  activation.ports.log.warn({
    msg: "A hook of the start sets a schedule beyond the limit; it is stored all the same",
    error: error.message,
  });
}
