// A user's client, typed by the registry alone.
import { createClient } from "perdure/client";
import type { registry } from "./actors.js";

export const client = createClient<typeof registry>("http://localhost:6420");
export const anything = createClient<any>();
export const handle = client.ledger.getOrCreate(["a", "b"], { createWithInput: { currency: "EUR" } });
export const created = () => client.plain.create("solo");
export const byId = client.ledger.getForId("0123");
export const byName = client.getOrCreate("ledger", "main");

export async function use() {
  const state = await handle.getState();
  const line = state.lines[0]?.amount ?? 0;
  const sum: number | undefined = await handle.totals.sum("USD");
  await handle.send("stop", { reason: "maintenance" });
  const answer = await handle.send("jobs", { id: "1", amount: line }, { wait: true, timeout: 1000 });
  return {
    last: state.last,
    sum,
    booked: answer.response?.booked,
    date: await handle.totals.at(),
    any: await anything.x.get("k").y(1),
  };
}
export const send = handle.send;
export const message = () => handle.take();
