import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until }: Tour): Promise<TourResult> {
  const invoice = createClient<typeof registry>(endpoint).invoiceActor.getOrCreate([key]);

  const { status } = await invoice.getState();
  say(`the first call made the actor and started its workflow; the invoice is ${status}`);
  const { subtotal, tax, total, invoiceId } = await until(
    () => invoice.getState(),
    (state) => state.status === "complete",
  );
  say(`cart, tax and invoice: three steps, and it is complete as ${invoiceId}`);

  check(total === subtotal + tax, "the total is subtotal and tax");
  return { result: `${subtotal} + ${tax} tax = ${total}` };
}
