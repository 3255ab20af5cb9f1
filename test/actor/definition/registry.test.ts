import { describe, expect, it } from "vitest";
import { actor, setup, type Registry } from "../../../src/actor/index.js";
import { testWorld } from "../../support/test-world.js";

// oxlint-disable-next-line typescript/no-explicit-any -- configurations that the types forbid
const anySetup = setup as (config: any) => Registry;
const use = { a: actor({ actions: { touch: () => {} } }) };
const request = (url = "http://worker.test/x?y=1"): Request => new Request(url);
const UNSUPPORTED = { group: "feature", code: "unsupported", statusCode: 501 };

describe("a registry", () => {
  it("starts and stops nothing, whatever a server elsewhere would", async () => {
    const registry = setup({ use });
    expect(registry.start()).toBe(undefined);
    for (const called of [
      registry.startAndWait(),
      registry.startEnvoy(),
      registry.listen({ port: 3000 }),
      registry.shutdown(),
    ])
      expect(await called).toBe(undefined);
  });

  it("says what is missing when it is asked before anything serves it", async () => {
    const registry = setup({ use });
    const { health, metadata } = registry.routes;
    for (const answer of [
      registry.handler(request()),
      registry.serve().fetch(request()),
      health(request()),
      metadata(request()),
    ]) {
      await expect(answer).rejects.toMatchObject({
        ...UNSUPPORTED,
        message: expect.stringContaining("createHandler(registry)"),
      });
    }
  });

  it("answers with what serves it, also where `serve` was called before that", async () => {
    const registry = setup({ use });
    const served = registry.serve();
    const seen: unknown[] = [];
    registry.servedBy(async ({ url }, env, ctx) => {
      seen.push([url, env, ctx]);
      return new Response("served");
    }, "/api/");
    const { health, metadata, prometheusMetrics } = registry.routes;
    for (const answer of [
      served.fetch(request(), "env", "ctx"),
      registry.handler(request()),
      health(request()),
      metadata(request()),
    ])
      expect(await (await answer).text()).toBe("served");
    expect(seen).toEqual([
      ["http://worker.test/x?y=1", "env", "ctx"],
      ["http://worker.test/x?y=1", undefined, undefined],
      ["http://worker.test/api/health", undefined, undefined],
      ["http://worker.test/api/metadata", undefined, undefined],
    ]);
    await expect(prometheusMetrics(request())).rejects.toMatchObject(UNSUPPORTED);
  });

  it("takes what configures servers and engines elsewhere, and shows its own with the defaults", () => {
    const ignored = {
      endpoint: "http://x",
      token: "t",
      namespace: "n",
      runtime: "auto",
      startEngine: true,
      configurePool: { name: "p" },
      envoy: {},
      shutdown: { gracePeriodMs: 1 },
      noWelcome: true,
    };
    const registry = setup({
      use,
      ...ignored,
      serverless: { basePath: "/api/rivet", maxStartPayloadBytes: 1 },
      maxIncomingMessageSize: 5,
    });
    expect(registry.parseConfig()).toMatchObject({
      ...ignored,
      maxIncomingMessageSize: 5,
      maxOutgoingMessageSize: 1_048_576,
    });
    expect(setup({ use }).parseConfig()).toMatchObject({ use, maxIncomingMessageSize: 65_536 });
    expect(registry.find("a").messageLimits).toEqual({ incoming: 5, outgoing: 1_048_576 });
  });

  it.each([
    ...["maxIncomingMessageSize", "maxOutgoingMessageSize"].flatMap((name) =>
      [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "64", null, 32 * 1024 * 1024 + 1].map(
        (value): [object, string] => [{ [name]: value }, `setup(): "${name}" must be a whole number of bytes`],
      ),
    ),
    [{ logging: "debug" }, 'setup(): "logging" must be an object'],
    [{ logging: { level: "loud" } }, 'setup(): "logging.level" must be one of trace, debug'],
    [
      { logging: { baseLogger: { info: () => {} } } },
      'setup(): "logging.baseLogger" must have the methods trace, debug',
    ],
    [{ serverless: { basePath: 5 } }, 'setup(): "serverless.basePath" must be a string'],
  ])("is refused with %j", (config, message) => {
    expect(() => anySetup({ use, ...config })).toThrow(message);
    expect(() => anySetup({ use, ...config })).toThrow(TypeError);
  });
});

describe("the warnings of a registry", () => {
  const options = {
    stateSaveInterval: 5,
    onDestroyTimeout: 1,
    waitUntilTimeout: 1,
    preloadMaxWorkflowBytes: 1,
    preloadMaxConnectionsBytes: undefined as never,
    enableActorRuntimeSocket: false,
    actionTimeout: 5,
  };

  it("name each option that is given and has no effect, once for each actor", () => {
    const registry = setup({
      use: {
        a: actor({ options }),
        b: actor({ options: { connectionLivenessTimeout: 5, enableActorRuntimeSocket: true } }),
        c: actor({
          options: { actionTimeout: 1 },
          inspector: {
            tabs: [
              { id: "mine", label: "Mine", source: "./mine" },
              { id: "yours", label: "Yours", source: "./yours" },
            ],
          },
        }),
        d: actor({ inspector: { tabs: [{ id: "state", hidden: true }] } }),
      },
    });
    expect(registry.warnings.map((warning) => ({ ...(warning as object), msg: undefined }))).toEqual([
      ...["stateSaveInterval", "onDestroyTimeout", "waitUntilTimeout", "preloadMaxWorkflowBytes"].map((option) => ({
        actor: "a",
        option,
      })),
      { actor: "b", option: "connectionLivenessTimeout" },
      { actor: "b", option: "enableActorRuntimeSocket" },
      { actor: "c", option: "inspector.tabs" },
    ]);
    expect(registry.warnings[0]).toMatchObject({
      msg: 'The option "stateSaveInterval" of the actor "a" has no effect here',
    });
  });

  it("are logged when it begins to be served, not for each actor that lives", async () => {
    const log: unknown[] = [];
    const world = testWorld(
      setup({ use: { a: actor({ options: { onDestroyTimeout: 1 }, actions: { touch: () => {} } }) } }),
      { onLog: (level, entry) => log.push([level, (entry as { option?: string }).option]) },
    );
    expect(log).toEqual([["warn", "onDestroyTimeout"]]);
    for (const key of ["x", "y"]) await world.actor("a", [key]).call("touch");
    expect(log).toHaveLength(1);
  });
});
