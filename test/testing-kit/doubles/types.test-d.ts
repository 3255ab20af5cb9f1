// Doubles and looks have the types of the registry, without an annotation. Checked by tsconfig/test-kit.json.
import { actor, setup } from "perdure";
import { testWorld, type StepCall } from "perdure/testing";
import { workflow } from "perdure/workflow";

const order = actor({
  state: { total: 0 },
  run: workflow(async (ctx) => void (await ctx.step("charge", () => 1))),
  actions: { total: (c) => c.state.total },
});
const registry = setup({ use: { order } });
const second = setup({ use: { order, cart: actor({ state: {}, actions: { items: () => ["tea"] } }) } });

export async function inferred(): Promise<void> {
  await using world = await testWorld(registry);
  world.step("order", "charge").fails(new Error("502")).gives({ id: 1 }).hangs().callsThrough();
  world.step("order", ["poll", "*", 3, "charge"]).runs((step) => {
    step.state.total += step.attempt;
    // @ts-expect-error -- no such member of the state
    step.state.sum = 1;
  });
  // @ts-expect-error -- there is no such actor
  world.step("cart", "charge");
  // @ts-expect-error -- no path
  world.step("order", [{}]);
  const calls: StepCall[] = world.step("order", "charge").rollback().calls();
  const outcome: "pending" | "fulfilled" | "rejected" | "aborted" | "lost" | undefined = calls[0]?.outcome;
  const handle = world.client.order.getOrCreate("o-1");
  world.crash(handle);
  world.crash({ name: "order", key: ["o-1"] });
  // @ts-expect-error -- no actor
  world.crash("order");
  const fired: boolean = world.crashOn(handle, { commit: 2, before: true }).fired;
  // @ts-expect-error -- neither side
  world.crashOn(handle, { commit: 2 });
  // @ts-expect-error -- both sides
  world.crashOn(handle, { before: true, after: true });
  const attempts: number | undefined = world.history(handle).steps("charge")[0]?.attempts;
  const rows: number = world.rows(handle) + (attempts ?? 0);
  const next = world.redeploy(second);
  const items: string[] = await next.client.cart.getOrCreate("c").items();
  await world.advance(rows + items.length + (fired && outcome ? 1 : 0));
}
