import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, setup } from "../../src/entry/index.js";

// What createHandler is given: a mistake in it is told at once, by its name.

const registry = setup({ use: { counter: actor({ state: {}, actions: {} }) } });

it.each<[problem: string, options: object]>([
  ['no option "authorise"', { authorise: () => false }],
  ['no option "managerPath"', { managerPath: "/" }],
  ["authorize must be a function", { authorize: true }],
  ["authorize must be a function", { authorize: null }],
  ["fetch must be a function", { fetch: {} }],
  ["basePath must be a string", { basePath: /api/ }],
  ["token must be a string", { token: 7 }],
  ["logLevel must be one of", { logLevel: "loud" }],
  ["evictAtPark must be true or false", { evictAtPark: "yes" }],
  ["must be an object", (() => {}) as object],
])("%s", (problem, options) => {
  expect(() => createHandler(registry, options)).toThrow(`createHandler(): `);
  expect(() => createHandler(registry, options)).toThrow(problem);
});

it("an option that is undefined counts as left out: variables that are not set give such", () => {
  expect(() =>
    createHandler(registry, { token: undefined, authorize: undefined, fetch: undefined } as object),
  ).not.toThrow();
});

it("options are read off no prototype", async () => {
  const handler = createHandler(
    registry,
    Object.assign(Object.create({ authorize: () => false }) as object, { logLevel: "silent" as const }),
  );
  const response = await handler.fetch(
    new Request("http://worker.test/actors?name=counter&key=a"),
    env,
    {} as ExecutionContext,
  );
  expect(response.status).toBe(200);
});

it.each([undefined, {}, { ACTORS: {} }, { ACTORS: "counter" }])(
  "a binding ACTORS that is missing or something else (%j) is an error that says what to add, also to a section [env.x]",
  async (bindings) => {
    const handler = createHandler(registry, { logLevel: "silent" });
    const request = new Request("http://worker.test/health");
    for (const serve of [
      async () => handler.fetch(request, bindings, {} as ExecutionContext),
      async () => handler.client(bindings),
    ]) {
      await expect(serve()).rejects.toThrow(
        /^perdure: the binding ACTORS is missing\..* \[\[durable_.* section \[env\.<name>\] inherits no.* \[\[env\.<name>\.durable/,
      );
    }
  },
);
