import type { ActorDefinitions, Client, Logger, LogSink, Registry } from "../../actor/index.js";
import { createClientWithTransport, createHttpTransport, resolveConfig } from "../../client/in-process.js";
import { consoleLog } from "../../logging/index.js";
import { readOptions, type LogLevel } from "../../protocol/index.js";
import { serveHttp } from "./http-server.js";
import { RealTimeWorld } from "./real-time-world.js";

/** The context that a test is given: as much of vitest's as `setupTest` uses. */
export interface TestEnd {
  onTestFinished(end: () => Promise<void>): void;
}

/** Options of `setupTest()`; none is needed. */
export interface SetupTestOptions {
  /** What `c.env` is in every actor. Default: an object without members. */
  readonly env?: object;
}

/** What `setupTest()` gives. */
export interface SetupTestResult<D extends ActorDefinitions> {
  /** The typed client, over HTTP and WebSocket. */
  readonly client: Client<Registry<D>>;
  /** Where the actors are served: `http://127.0.0.1:…`. */
  readonly endpoint: string;
}

/**
 * Serves the actors of a registry in this process for one test, at a loopback port and on the clock of the machine, as
 * RivetKit's `rivetkit/test` does. All of it ends with the test.
 *
 * Tests that need no HTTP are faster and wait for nothing with `testWorld()` of `perdure/testing`.
 *
 * @example
 *     test("counts", async (c) => {
 *       const { client } = await setupTest(c, registry);
 *       expect(await client.counter.getOrCreate("main").increment(1)).toBe(1);
 *     });
 * @throws TypeError when it is not given the test's context and a registry, or an option is unknown
 * @throws Error when the package ws is missing
 */
export async function setupTest<D extends ActorDefinitions>(
  c: TestEnd,
  registry: Registry<D>,
  options?: SetupTestOptions,
): Promise<SetupTestResult<D>> {
  const { env } = readSetup(c, registry, options);
  const world = new RealTimeWorld(registry as unknown as Registry, env, logOf(registry));
  const server = await serveHttp((request) => world.answer(request));
  const transport = createHttpTransport(resolveConfig({ endpoint: server.url }));
  const client = createClientWithTransport(transport) as Client<Registry<D>>;
  c.onTestFinished(async () => {
    await client.dispose();
    await server.close();
    world.end();
  });
  return { client, endpoint: server.url };
}

function readSetup(c: TestEnd, registry: unknown, options: SetupTestOptions | undefined): { readonly env: object } {
  const fail = (problem: string): TypeError => new TypeError(`setupTest(): ${problem}`);
  if (typeof c?.onTestFinished !== "function")
    throw fail(
      "the first argument must be the test's own context, whose onTestFinished ends what is served: " +
        'test("…", async (c) => { const { client } = await setupTest(c, registry); })',
    );
  if (typeof (registry as Registry | undefined)?.find !== "function")
    throw fail("the second argument must be a registry, made by setup()");
  const { env = {} } = readOptions<SetupTestOptions>("setupTest", options, ["env"], fail);
  if (typeof env !== "object" || env === null) throw fail("env must be an object");
  return { env };
}

/** As the registry says; without a word of it, warnings and errors. */
function logOf(registry: { readonly config: Registry["config"] }): Logger {
  const { logging } = registry.config;
  return consoleLog((logging?.level as LogLevel | undefined) ?? "warn", {}, logging?.baseLogger as LogSink | undefined);
}
