import { expect, it } from "vitest";
import { actor, setup, UserError } from "../../../src/entry/index.js";
import { testWorld } from "../../../src/entry/testing.js";

const bug = (): never => {
  throw new TypeError("card is undefined");
};
const shop = actor({
  actions: {
    pay: (): number => bug(),
    refuse: (): number => {
      throw new UserError("sold out");
    },
    ask: async (c): Promise<unknown> => c.client().shop.getOrCreate("other").action({ name: "pay", args: [] }),
  },
});
const unborn = actor({ createState: (): object => bug(), actions: { hi: () => 1 } });
const registry = setup({ use: { shop, unborn } });

const MASKED = { group: "rivetkit", code: "internal_error", message: "An internal error occurred" };
const rejected = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => new Error("it did not reject"),
    (error: unknown) => error as Error,
  );

it("keeps the error that strangers see, with the original as cause and the test's line in its stack", async () => {
  await using world = await testWorld(registry);
  const error = await rejected(world.client.shop.getOrCreate("a").pay());
  expect(error).toMatchObject(MASKED);
  expect(error.cause).toMatchObject({ name: "TypeError", message: "card is undefined" });
  expect((error.cause as Error).stack).toContain("masked-errors.test.ts");
  expect(error.stack?.split("\n")[1]).toContain("masked-errors.test.ts");
  expect(Object.keys(error)).not.toContain("cause");
});

it("is the same over a connection, through another actor, and of an actor that cannot start", async () => {
  await using world = await testWorld(registry);
  const connection = world.client.shop.getOrCreate("a").connect();
  for (const call of [
    () => connection.pay(),
    () => world.client.shop.getOrCreate("b").ask(),
    () => world.client.unborn.getOrCreate("c").hi(),
  ])
    expect((await rejected(call())).cause).toMatchObject({ message: "card is undefined" });
  await connection.dispose();
});

it("gives the cause of its own actor, though ids of errors repeat among actors", async () => {
  const named = actor({
    actions: {
      fail: (c): number => {
        throw new Error(`bug of ${c.key.join()}`);
      },
    },
  });
  await using world = await testWorld(setup({ use: { named } }));
  const keys = ["a", "b", "c"];
  const errors = await Promise.all(keys.map(async (key) => rejected(world.client.named.getOrCreate(key).fail())));
  expect(errors.map(({ cause }) => (cause as Error).message)).toEqual(["bug of a", "bug of b", "bug of c"]);
});

it("adds no cause to an error that is meant for callers", async () => {
  await using world = await testWorld(registry);
  const error = await rejected(world.client.shop.getOrCreate("a").refuse());
  expect(error).toMatchObject({ group: "user", message: "sold out" });
  expect(error.cause).toBeUndefined();
});
