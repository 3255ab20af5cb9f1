/** The composition root: joins the router, the object class and the client inside the Worker. */
import { env as workerEnv, waitUntil } from "cloudflare:workers";
import type { ActorDefinitions, Client, Logger, LogSink, Registry } from "../actor/index.js";
import { setHomeTransport } from "../client/binding.js";
import { configuredLogger, consoleLog } from "../logging/index.js";
import { createActorObject, type ActorObjectClass } from "../durable-object/index.js";
import { LOG_LEVELS, readOptions, type LogLevel } from "../protocol/index.js";
import type { ActorNamespace, Authorize, CorsOptions } from "../router/index.js";
import { createRegistryWorker, type Inspector } from "../worker/index.js";

export type { ActorObjectClass } from "../durable-object/index.js";
export type { LogLevel } from "../protocol/index.js";
export type { ActorNamespace, Authorize, AuthorizeKind, AuthorizeTarget, CorsOptions } from "../router/index.js";

/** The bindings the handler uses. */
export interface ActorEnv {
  /** The namespace of the exported class `ActorObject`. */
  readonly ACTORS: ActorNamespace;
}

/** Options of `createHandler`. */
export interface HandlerOptions<Env> {
  /**
   * Answers every request outside Perdure's routes.
   *
   * @example
   *     createHandler(registry, { basePath: "/actors-api", fetch: app.fetch }); // a Hono app
   */
  readonly fetch?: (request: Request, env: Env, ctx: ExecutionContext) => Response | Promise<Response>;
  /** The path Perdure's routes are mounted at. Default: `serverless.basePath` of `setup()`, otherwise "/". */
  readonly basePath?: string;
  /**
   * Opens the management routes (`DELETE /actors/{id}`, `GET /actors/names`) to `Authorization: Bearer <token>`.
   * Without it they are closed, in local development too.
   */
  readonly token?: string;
  /** The other origins whose pages may call. Default: none, except pages of the same machine in development. */
  readonly cors?: CorsOptions;
  /**
   * Decides whether a request from outside may reach an actor. It runs before the actor, for calls, messages,
   * connections, raw requests and sockets, and for creations and look-ups over REST. True or undefined allows the
   * request; any other value is `auth/forbidden` (403); an error it throws is the answer (`unauthorizedError()`,
   * `forbiddenError()`, `UserError`). It does not run for calls over the binding, nor for management routes, which have
   * their own token.
   *
   * @example
   *     createHandler(registry, { authorize: async (request, { token, ...target }) => {
   *       const user = await verify(token);
   *       if (!user) throw unauthorizedError();
   *       return "key" in target ? target.key[0] === user.id : (await target.resolve())?.key[0] === user.id;
   *     } });
   */
  readonly authorize?: Authorize<Env>;
  /**
   * The host names Perdure's routes answer to, without ports; `"loopback"` stands for `localhost`, `127.0.0.1` and the
   * like. Other names get `auth/host_not_allowed` (403), which protects a developer's machine from DNS rebinding.
   * Default: the comma-separated variable `PERDURE_HOSTS`; without it, any name.
   */
  readonly hosts?: readonly string[];
  /**
   * A mode for development, never for production: an actor leaves memory whenever its workflow waits and nothing else is
   * in progress, and starts from what is stored at the next event, as after an eviction. What only works in memory fails
   * on its first run. Open sockets stay. Default: false.
   *
   * @example
   *     createHandler(registry, { evictAtPark: env.DEVELOPMENT === "1" }); // import { env } from "cloudflare:workers"
   */
  readonly evictAtPark?: boolean;
  /**
   * Lets operators look at actors below `/inspector`. Default: there is no such route.
   *
   * @example
   *     import { inspector } from "perdure/inspector";
   *     createHandler(registry, { inspector: inspector({ token: (env: Env) => env.INSPECTOR_TOKEN }) });
   */
  readonly inspector?: Inspector<Env>;
  /** The lowest level that is logged. Default: `logging.level` of `setup()`, otherwise "info". */
  readonly logLevel?: LogLevel;
}

/** The Worker's default export, with the object class that the Worker must export as well. */
export interface ActorHandler<D extends ActorDefinitions, Env> {
  /** Answers a request to the Worker. */
  fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response>;
  /** The Durable Object class. Export it from the Worker: `export const { ActorObject } = handler`. */
  readonly ActorObject: ActorObjectClass<Env>;
  /**
   * Returns a typed client over the binding, without HTTP, for the Worker's own routes.
   *
   * @example
   *     app.get("/carts/:user", async (c) => {
   *       const cart = handler.client(c.env).cart.getOrCreate(c.req.param("user"));
   *       return c.json(await cart.items());
   *     });
   */
  client(env: Env): Client<Registry<D>>;
}

/**
 * Serves a registry from a Worker. `wrangler.toml` must bind `ACTORS` to the class `ActorObject` and list the class in
 * `new_sqlite_classes`; a missing or wrong binding is an error that says what to add.
 *
 * @example
 *     const handler = createHandler(registry);
 *     export const { ActorObject } = handler;
 *     export default handler;
 * @throws TypeError when an option is unknown or not valid
 */
export function createHandler<D extends ActorDefinitions, Env = unknown>(
  registry: Registry<D>,
  given: HandlerOptions<Env> = {},
): ActorHandler<D, Env> {
  const options = readHandlerOptions(given);
  const { logging, serverless } = registry.config;
  const basePath = options.basePath ?? serverless?.basePath ?? "/";
  // A logger of the user's own chooses the level itself.
  const baseLogger = (logging?.baseLogger as LogSink | undefined) ?? configuredLogger();
  const logLevel = options.logLevel ?? (logging?.level as LogLevel | undefined) ?? (baseLogger ? "trace" : "info");
  const createLog = (fields: Readonly<Record<string, unknown>>): Logger => consoleLog(logLevel, fields, baseLogger);
  const log = createLog({ part: "router" });
  for (const warning of registry.warnings) log.warn(warning);
  const { evictAtPark = false } = options;
  if (evictAtPark) log.warn("evictAtPark is on: actors leave memory whenever their workflow waits. Not for production");
  const { inspector } = options;
  if (inspector?.routes.isForLoopback)
    log.warn("The inspector has neither token nor authorize: it serves this machine only (localhost)");
  const worker = createRegistryWorker(registry as unknown as Registry, {
    log,
    basePath,
    ...(options.token === undefined ? {} : { token: options.token }),
    ...(options.cors === undefined ? {} : { cors: options.cors }),
    ...(options.authorize === undefined ? {} : { authorize: options.authorize as Authorize }),
    ...(inspector && { part: inspector.routes }),
    ...hostsOf(options.hosts),
  });
  const handler: ActorHandler<D, Env> = {
    ActorObject: createActorObject<Env>({
      registry: registry as unknown as Registry,
      createLog,
      createClient: (env, beforeCall, ends, effects, chain) =>
        worker.client(namespaceOf(env), { beforeCall, ends, effects, chain }),
      evictAtPark,
      inspector: inspector?.objects,
    }),
    client: (env) => worker.client(namespaceOf(env)) as Client<Registry<D>>,
    async fetch(request, env, ctx) {
      const response = await worker.router(request, namespaceOf(env), env);
      return response ?? (await options.fetch?.(request, env, ctx)) ?? new Response("Not found", { status: 404 });
    },
  };
  // `serve()` and `handler()` of the registry get only the request.
  registry.servedBy(
    (request, env = workerEnv, ctx = CONTEXT) => handler.fetch(request, env as Env, ctx as ExecutionContext),
    basePath,
  );
  // `createClient()` without an endpoint means the actors of its own Worker.
  setHomeTransport(() => worker.transport(namespaceOf(workerEnv)));
  return handler;
}

const OPTION_NAMES = [
  "fetch",
  "basePath",
  "token",
  "cors",
  "authorize",
  "hosts",
  "evictAtPark",
  "inspector",
  "logLevel",
] as const;

/**
 * Checks every name, since a mistyped `authorize` would leave every actor open. @throws TypeError that names the option
 */
function readHandlerOptions<Env>(given: HandlerOptions<Env>): HandlerOptions<Env> {
  const fail = (problem: string): TypeError => new TypeError(`createHandler(): ${problem}`);
  const options = readOptions<HandlerOptions<Env>>("createHandler", given, OPTION_NAMES, fail);
  for (const name of ["fetch", "authorize"] as const)
    if (options[name] !== undefined && typeof options[name] !== "function") throw fail(`${name} must be a function`);
  for (const name of ["basePath", "token"] as const)
    if (options[name] !== undefined && typeof options[name] !== "string") throw fail(`${name} must be a string`);
  const { evictAtPark, inspector, logLevel } = options;
  if (inspector !== undefined && typeof inspector?.routes?.serve !== "function")
    throw fail("inspector must be what inspector() of perdure/inspector gives");
  if (evictAtPark !== undefined && typeof evictAtPark !== "boolean") throw fail("evictAtPark must be true or false");
  if (logLevel !== undefined && !(["silent", ...LOG_LEVELS] as readonly string[]).includes(logLevel))
    throw fail(`logLevel must be one of ${LOG_LEVELS.join(", ")}, silent`);
  return options;
}

function hostsOf(hosts: readonly string[] | undefined): { hosts?: readonly string[] } {
  if (hosts !== undefined) return { hosts };
  const listed: unknown = (workerEnv as { readonly PERDURE_HOSTS?: unknown }).PERDURE_HOSTS;
  return typeof listed === "string" && listed.trim() !== ""
    ? { hosts: listed.split(",").map((host) => host.trim()) }
    : {};
}

/** The context of requests that come without one. */
const CONTEXT = { waitUntil, passThroughOnException: () => {}, props: {} };

function namespaceOf(env: unknown): ActorNamespace {
  const namespace = (env as Partial<ActorEnv> | undefined)?.ACTORS;
  if (typeof namespace?.idFromName === "function") return namespace;
  throw new Error(
    "perdure: the binding ACTORS is missing. Add to wrangler.toml: [[durable_objects.bindings]] name = " +
      '"ACTORS", class_name = "ActorObject", and [[migrations]] tag = "v1", new_sqlite_classes = ' +
      '["ActorObject"]; and export ActorObject from the Worker. A section [env.<name>] inherits no bindings: ' +
      "where the Worker is served with --env, it needs [[env.<name>.durable_objects.bindings]] of its own",
  );
}
