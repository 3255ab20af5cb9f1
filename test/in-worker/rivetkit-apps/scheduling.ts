import { actor, type ScheduledEvent } from "rivetkit";

interface Reminder {
  id: string;
  text: string;
  done: boolean;
}

export const reminders = actor({
  state: { reminders: {} as Record<string, Reminder> },
  actions: {
    remind: async (c, text: string, delayMs: number) => {
      const id = crypto.randomUUID();
      c.state.reminders[id] = { id, text, done: false };
      await c.schedule.after(delayMs, "trigger", id);
      return id;
    },
    trigger: (c, id: string) => {
      const reminder = c.state.reminders[id];
      if (reminder) reminder.done = true;
    },
    daily: (c) => c.cron.set({ name: "daily", expression: "0 8 * * *", action: "trigger", args: ["nobody"] }),
    planned: async (c): Promise<ScheduledEvent[]> => c.schedule.list(),
    get: (c, id: string) => c.state.reminders[id],
  },
});
