// The world's client has the types of the registry, without an annotation. Checked by tsconfig/test-kit.json.
import { actor, queue, setup } from "perdure";
import { testWorld, type TestWorld } from "perdure/testing";

const registry = setup({
  use: {
    counter: actor({
      state: { n: 0 },
      queues: { jobs: queue<{ id: string }, number>() },
      actions: { add: (c, by: number) => (c.state.n += by) },
    }),
  },
});

export async function inferred(): Promise<void> {
  await using world = await testWorld(registry);
  const counter = world.client.counter.getOrCreate("main");
  const total: number = await counter.add(1);
  // @ts-expect-error -- a number is asked for
  await counter.add("1");
  // @ts-expect-error -- there is no such actor
  world.client.count.getOrCreate("main");
  const { response }: { response?: number } = await counter.send("jobs", { id: "a" }, { wait: true });
  // @ts-expect-error -- another body
  await counter.send("jobs", { name: "a" });
  const settled: number = await world.until(counter.add(total + (response ?? 0)));
  await world.advance(settled);
  await world.advance("1h 30m");
  const page = world.createClient({ encoding: "json" });
  const other: number = await page.counter.getOrCreate("main").add(1);
  await world.advance(other);
  // @ts-expect-error -- no encoding
  world.createClient({ encoding: "xml" });
  // @ts-expect-error -- no option
  await testWorld(registry, { starts: 0 });
}

/** A world of some registry, as a function of a test takes it. */
export const endsAnyWorld = (world: TestWorld): Promise<void> => world.end();
export const endsThisWorld = async (): Promise<void> => endsAnyWorld(await testWorld(setup({ use: {} })));
