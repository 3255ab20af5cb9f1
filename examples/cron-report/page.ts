import { createClient } from "perdure/client";
import { byId, named, onSubmit, showError, showList } from "../dom";
import type { Plan, registry } from "./index";

const client = createClient<typeof registry>(location.origin);
const shop = client.salesReportActor.getOrCreate([named("shop")]).connect();
const value = (id: string): string => byId(id, HTMLInputElement).value;
const time = (at: number | undefined): string => (at === undefined ? "never" : new Date(at).toLocaleString());

async function refresh(): Promise<void> {
  const { plan, sales, reports, nextRunAt, runs } = await shop.getState();
  const when = "everySeconds" in plan ? `every ${plan.everySeconds} s` : `${plan.expression} in ${plan.timezone}`;
  byId("plan", HTMLElement).textContent = `${when}, next at ${time(nextRunAt)}`;
  showList(
    byId("sales", HTMLElement),
    sales.map(({ product, amount }) => `${product}: ${amount}`),
  );
  showList(
    byId("reports", HTMLElement),
    reports.map((report) => `${report.day}: ${report.sales} sales, ${report.total} in all`),
  );
  showList(
    byId("runs", HTMLElement),
    runs.map((run) => `for ${time(run.scheduledAt)}: ${run.result}`),
  );
}

async function setPlan(plan: Plan): Promise<void> {
  await shop.setPlan(plan);
  await refresh();
}

const refreshNow = (): void => void refresh().catch(showError);
shop.on("sold", refreshNow);
shop.on("reported", refreshNow);
shop.onOpen(refreshNow);
shop.onStatusChange((status) => (byId("status", HTMLElement).textContent = status));
shop.onError(showError);

onSubmit("sell", () => shop.sell(value("product"), Number(value("amount"))));
onSubmit("every", () => setPlan({ everySeconds: Number(value("seconds")) }));
onSubmit("calendar", () => setPlan({ expression: value("expression"), timezone: value("timezone") }));
onSubmit("now", () => shop.writeReport());
