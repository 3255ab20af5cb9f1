import { actor, event, queue, setup } from "perdure";
import { workflow } from "perdure/workflow";

export interface Progress {
  status: "waiting" | "running" | "done";
  batches: number;
  imported: number;
  rows: number;
}

const REST_MS = 500;

/** Imports a file in batches, and tells whoever looks how far it is. */
export const importJob = actor({
  state: { status: "waiting", batches: 0, imported: 0, rows: 0 } as Progress,
  events: {
    progress: event<Progress>(),
  },
  queues: {
    orders: queue<{ batches: number }>(),
  },
  run: workflow(async (ctx) => {
    const { body: order } = await ctx.queue.next("wait-order");

    await ctx.step("begin", (step) => {
      step.state.batches = order.batches;
      step.state.status = "running";
      step.broadcast("progress", { ...step.state });
    });

    for (let batch = 1; batch <= order.batches; batch += 1) {
      await ctx.step(`import-${batch}`, async (step) => {
        const rows = await importBatch(batch, step.abortSignal);

        // Behind the last await: what follows is stored with the step's result, in one write and exactly once, however
        // often the step is cut off. Pages hear of it when it is stored, never before.
        step.state.imported = batch;
        step.state.rows += rows;
        step.broadcast("progress", { ...step.state });
      });

      // The service wants some rest. The time is stored: the object may go, and with it everything in memory. Pages that
      // are connected stay so; they notice nothing.
      await ctx.sleep(`rest-${batch}`, REST_MS);
    }

    await ctx.step("finish", (step) => {
      step.state.status = "done";
      step.broadcast("progress", { ...step.state });
    });
  }),
  actions: {
    /** For pages that come later, or come back: the state is the truth, events only tell of it. */
    getState: (c) => c.state,
  },
});

async function importBatch(batch: number, signal: AbortSignal): Promise<number> {
  const response = await fetch(`https://api.example.com/imports/${batch}`, { method: "POST", signal });
  if (!response.ok) throw new Error(`The import of batch ${batch} was answered ${response.status}`);
  return ((await response.json()) as { rows: number }).rows;
}

export const registry = setup({ use: { importJob } });
