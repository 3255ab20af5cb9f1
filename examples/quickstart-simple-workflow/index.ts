import { actor, setup } from "perdure";
import { workflow, type WorkflowStepContextOf } from "perdure/workflow";

/** An invoice that makes itself: the workflow starts when somebody first asks for the actor. */
export const invoiceActor = actor({
  state: {
    invoiceId: null as string | null,
    subtotal: 0,
    tax: 0,
    total: 0,
    status: "idle" as "idle" | "complete",
  },
  run: workflow(async (ctx) => {
    // A step's result is stored when the step ends. Killed at any line, the workflow runs again from the first one, and
    // the steps that are done answer from storage: neither the cart nor the tax is asked for twice.
    const subtotal = await ctx.step(
      "load-subtotal",
      async () => (await call<{ subtotal: number }>("carts/main")).subtotal,
    );
    const tax = await ctx.step(
      "calculate-tax",
      async () => (await call<{ tax: number }>("tax/quote", { subtotal })).tax,
    );
    await ctx.step("save-invoice", (step) => saveInvoice(step, subtotal, tax));
  }),
  actions: {
    getState: (c) => c.state,
  },
});

async function saveInvoice(
  step: WorkflowStepContextOf<typeof invoiceActor>,
  subtotal: number,
  tax: number,
): Promise<void> {
  const total = subtotal + tax;
  const { id } = await call<{ id: string }>("invoices", { subtotal, tax, total });
  // After the last await: these changes and the step's record are one write. Both are stored, or neither is.
  Object.assign(step.state, { invoiceId: id, subtotal, tax, total, status: "complete" });
}

async function call<T>(path: string, body?: unknown): Promise<T> {
  const init =
    body === undefined
      ? {}
      : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(`https://api.example.com/${path}`, init);
  // A step that throws is tried again, by default three times: after 200, 400 and 800 ms.
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return (await response.json()) as T;
}

export const registry = setup({ use: { invoiceActor } });
