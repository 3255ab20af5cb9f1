import { actor, event, setup, type ActorCron, type ScheduledFireInfo } from "perdure";

export interface Report {
  /** The day of the report in its time zone, "2026-11-30". */
  readonly day: string;
  readonly sales: number;
  readonly total: number;
  readonly byProduct: Readonly<Record<string, number>>;
}

/** When reports are written: at times of the calendar, or every so many seconds (to watch one being written). */
export type Plan = { readonly expression: string; readonly timezone: string } | { readonly everySeconds: number };

const KEPT_REPORTS = 30;

/** Collects a shop's sales, and at the end of each working day writes them up. */
export const salesReportActor = actor({
  createState: (_c, input?: { plan?: Plan }) => ({
    plan: input?.plan ?? ({ expression: "0 18 * * 1-5", timezone: "Europe/Berlin" } as Plan),
    sales: [] as { product: string; amount: number }[],
    reports: [] as Report[],
  }),
  events: {
    sold: event<{ product: string; amount: number }>(),
    reported: event<Report>(),
  },

  // At every start, a new actor's first one too. What is registered already stays as it is, with its next time, and costs
  // nothing; if a release brings another plan, this is where it takes effect.
  onWake: (c) => register(c.cron, c.state.plan),

  actions: {
    sell: (c, product: string, amount: number) => {
      c.state.sales.push({ product, amount });
      c.broadcast("sold", { product, amount });
    },

    // Runs when it is time, also if nobody has called this actor for weeks: the alarm wakes it. A night in which nothing
    // could run is made up for by one run, and `scheduledAt` says for when. A client may call it, too: "report now".
    writeReport: (c, fired?: ScheduledFireInfo) => {
      const timezone = "timezone" in c.state.plan ? c.state.plan.timezone : "UTC";
      const byProduct: Record<string, number> = {};
      for (const { product, amount } of c.state.sales) byProduct[product] = (byProduct[product] ?? 0) + amount;
      const report: Report = {
        day: new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short" }).format(
          fired?.scheduledAt ?? Date.now(),
        ),
        sales: c.state.sales.length,
        total: Object.values(byProduct).reduce((sum, amount) => sum + amount, 0),
        byProduct,
      };
      // Committed together with the end of this run in the job's history: no sale is in two reports, or in none.
      c.state.reports = [...c.state.reports, report].slice(-KEPT_REPORTS);
      c.state.sales = [];
      c.broadcast("reported", report);
      return report;
    },

    setPlan: async (c, plan: Plan) => {
      // Refused: nothing changes. Cut off between the two: the next start registers the plan that is stored.
      await register(c.cron, plan);
      c.state.plan = plan;
    },

    getState: async (c) => {
      const job = await c.cron.get("report");
      return { ...c.state, nextRunAt: job?.nextRunAt, runs: await c.cron.history("report", { limit: 5 }) };
    },
  },
});

function register(cron: ActorCron, plan: Plan): Promise<void> {
  const job = { name: "report", action: "writeReport" };
  return "everySeconds" in plan
    ? cron.every({ ...job, interval: plan.everySeconds * 1_000 })
    : cron.set({ ...job, ...plan });
}

export const registry = setup({ use: { salesReportActor } });
