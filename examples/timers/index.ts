import { actor, queue, setup } from "perdure";
import { workflow } from "perdure/workflow";

/** Remembers texts, and fires each at its time: in a second, or in forty days. */
export const reminderActor = actor({
  state: {
    fired: [] as string[],
  },
  queues: {
    reminders: queue<{ text: string; at: number }>(),
  },
  run: workflow(async (ctx) => {
    await ctx.loop("reminder-loop", async (loopCtx) => {
      const { body: reminder } = await loopCtx.queue.next("wait-reminder");

      // The time to wake is stored, and the platform's alarm is set for it. Nothing runs, and nothing is billed, until
      // then; a deploy or a crash in between changes nothing. A time that is past is no wait at all.
      await loopCtx.sleepUntil("wait-until-reminder", reminder.at);

      await loopCtx.step("record-reminder", (step) => {
        step.state.fired.push(reminder.text);
      });
    });
  }),
  actions: {
    getState: (c) => c.state,
  },
});

export const registry = setup({ use: { reminderActor } });
