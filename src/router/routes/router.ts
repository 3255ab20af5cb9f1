import { Hono } from "hono/tiny";
import { ActorError, PACKAGE_VERSION, own } from "../../protocol/index.js";
import { actorMetadata } from "./actors-management.js";
import { serveActors } from "./actors-rest.js";
import { authorized, type Authorize } from "./authorize.js";
import { Cors, originNotAllowed, type Admission, type CorsOptions } from "./cors.js";
import { errorResponse, failureOf, type FailurePorts, type RouterLog } from "../request/error-response.js";
import { createActorAccess, type ActorAccess } from "../objects/actor-access.js";
import { serveGateway } from "./gateway.js";
import { redactPath } from "../request/gateway-path.js";
import { withoutToken } from "./gateway-query.js";
import type { GatewayOptions } from "./gateway-request.js";
import type { ActorNamespace } from "../objects/object-namespace.js";
import { HostNames } from "./host-names.js";
import { requireMethod } from "../request/preconditions.js";
import { refuseSocket } from "../request/refuse-socket.js";
import { headerTarget, isRouted, protocolTarget } from "./header-target.js";
import { serveConnect } from "./serve-connect.js";
import { serveRequest } from "./serve-request.js";
import { isUpgrade } from "../request/socket-opening.js";
import type { WaitPorts } from "../objects/reply-wait.js";
import { isOwnClient } from "../request/wire-encoding.js";

export interface RouterOptions extends Partial<WaitPorts> {
  /** The names of the registry's actors. */
  readonly actorNames: Iterable<string>;
  /** The path all routes are mounted at. Default: "/". Below any other path, every path is ours. */
  readonly basePath?: string;
  /** The only namespace callers may name. Default: any. */
  readonly namespace?: string;
  /** The token of management routes, sent as `Authorization: Bearer`. Without it they are closed. */
  readonly token?: string;
  /** The most bytes of an action's body. Default: 65,536. */
  readonly maxIncomingMessageSize?: number;
  /** The most bytes of the answer to an action or a queue send. Default: 1,048,576. */
  readonly maxOutgoingMessageSize?: number;
  /**
   * The most bytes of a queue send's body before it is parsed. Default: 1 MiB. The actor's `maxQueueMessageSize`
   * applies after it.
   */
  readonly maxQueueBodySize?: number;
  readonly cors?: CorsOptions;
  /** The host names to answer, without ports; "loopback" stands for this machine's. Default: any. */
  readonly hosts?: readonly string[];
  /** Decides on each request to an actor; `env` is the router's. */
  readonly authorize?: Authorize;
  /** Shows internal errors to callers: for local development only. */
  readonly exposeErrors?: boolean;
  readonly log?: RouterLog;
  /** Makes the id of a logged error. Default: random. */
  readonly newErrorId?: () => string;
}

/** Answers a request, or returns undefined if its path is not ours. Never rejects. */
export type Router = (request: Request, objects: ActorNamespace, env?: unknown) => Promise<Response | undefined>;

interface Env {
  Bindings: ActorAccess;
}

const DEFAULT_MAX_INCOMING_MESSAGE_BYTES = 65_536;
const DEFAULT_MAX_OUTGOING_MESSAGE_BYTES = 1_048_576;
const DEFAULT_MAX_QUEUE_BODY_BYTES = 1024 * 1024;
const RUNTIME = "rivetkit";

/**
 * The Worker's side of the gateway protocol: finds the object of the actor a request names, and calls it. It has no
 * state, so one router can be made at module scope.
 */
export function createRouter(given: RouterOptions): Router {
  const options = own(given);
  const actorNames = new Set(options.actorNames);
  const basePath = normalizeBasePath(options.basePath ?? "/");
  const cors = new Cors(options.cors, options.log);
  const hosts = new HostNames(options.hosts);
  const failurePorts: FailurePorts = {
    log: options.log,
    newErrorId: options.newErrorId ?? (() => crypto.randomUUID()),
    expose: options.exposeErrors ?? false,
  };
  const app = createApp(options, actorNames, basePath);
  const { authorize } = options;
  const accessOf = createActorAccess(actorNames, options);
  const accessTo = (request: Request, objects: ActorNamespace, env: unknown): ActorAccess => {
    const access = accessOf(objects);
    return authorize === undefined
      ? access
      : authorized(access, request, (asked, target) => authorize(asked, target, env));
  };

  const respond = async (
    request: Request,
    admission: Admission,
    objects: ActorNamespace,
    env: unknown,
  ): Promise<Response> => {
    try {
      hosts.check(request);
      if (!admission.allowed) throw originNotAllowed(admission.origin);
      const admitted = admission.foreign ? Cors.asNobody(request) : request;
      return await app.fetch(admitted, accessTo(admitted, objects, env));
    } catch (error) {
      const failure = failureOf(error, failurePorts, {
        method: request.method,
        path: redactPath(new URL(request.url).pathname),
      });
      if (isUpgrade(request)) return refuseSocket(failure, request);
      const response = errorResponse(failure, isOwnClient(request.headers));
      const allowed =
        failure.status === 405 ? (failure.data.metadata as { allowed?: unknown } | undefined)?.allowed : undefined;
      if (Array.isArray(allowed)) response.headers.set("allow", allowed.join(", "));
      return response;
    }
  };

  return async (request, objects, env) => {
    if (!isOurs(request, basePath)) return undefined;
    const admission = cors.admit(request);
    if (request.method === "OPTIONS") return Cors.preflight(request, admission);
    const response = await respond(request, admission, objects, env);
    // An upgraded answer is for a socket, to which CORS does not apply.
    if (response.status !== 101) Cors.decorate(response, admission);
    return response;
  };
}

function createApp(options: RouterOptions, actorNames: ReadonlySet<string>, basePath: string): Hono<Env> {
  const { namespace, token } = options;
  const gateway: GatewayOptions = {
    maxIncomingMessageSize: options.maxIncomingMessageSize ?? DEFAULT_MAX_INCOMING_MESSAGE_BYTES,
    maxOutgoingMessageSize: options.maxOutgoingMessageSize ?? DEFAULT_MAX_OUTGOING_MESSAGE_BYTES,
    maxQueueBodySize: options.maxQueueBodySize ?? DEFAULT_MAX_QUEUE_BODY_BYTES,
    namespace,
  };
  const pathOf = (request: Request): string => pathBelow(basePath, request) ?? "/";
  // Routes match the path as it was sent, since names may contain an encoded slash.
  const app = new Hono<Env>({ getPath: pathOf });

  app.all("/gateway/*", (c) => {
    const path = pathOf(c.req.raw).slice("/gateway/".length);
    return serveGateway(c.req.raw, path, c.env, gateway);
  });
  app.all("/request/*", (c) => {
    const request = c.req.raw;
    const path = pathOf(request).slice("/request".length);
    return serveRequest(
      {
        request,
        target: headerTarget(request.headers),
        path: path === "" ? "/" : path,
        query: withoutToken(new URL(request.url).search),
      },
      c.env,
    );
  });
  const serveSocket = (request: Request, env: ActorAccess, rawPath?: string): Promise<Response> =>
    serveConnect(
      { request, userQuery: withoutToken(new URL(request.url).search), target: protocolTarget(request.headers) },
      env,
      rawPath,
    );
  app.all("/connect", (c) => serveSocket(c.req.raw, c.env));
  app.all("/websocket/*", (c) => serveSocket(c.req.raw, c.env, pathOf(c.req.raw).slice("/websocket/".length)));
  app.all("/actors/*", (c) => {
    const path = pathOf(c.req.raw).slice("/actors".length);
    return serveActors(c.req.raw, path, c.env.callActor, { actorNames, namespace, token });
  });
  app.all("/metadata", (c) => {
    requireMethod(c.req.raw, "GET", "HEAD");
    return c.json({ runtime: RUNTIME, version: PACKAGE_VERSION, actorNames: actorMetadata(actorNames) });
  });
  app.all("/health", (c) => {
    requireMethod(c.req.raw, "GET", "HEAD");
    return c.json({ status: "ok", runtime: RUNTIME, version: PACKAGE_VERSION });
  });
  if (basePath !== "") app.get("/", (c) => c.text("This is a Perdure server. Clients use this URL as their endpoint."));
  app.notFound(() => {
    throw new ActorError("guard", "no_route", "There is no such route.");
  });
  app.onError((error) => {
    throw error;
  });
  return app;
}

/** "" for the root; otherwise with a leading slash and no trailing one. */
function normalizeBasePath(path: string): string {
  const trimmed = path.replace(/^\/+|\/+$/g, "");
  return trimmed === "" ? "" : `/${trimmed}`;
}

/** The request's path below the base path, or undefined if it is not below it. */
function pathBelow(basePath: string, request: Request): string | undefined {
  const { pathname } = new URL(request.url);
  if (pathname === basePath) return "/";
  return pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : undefined;
}

function isOurs(request: Request, basePath: string): boolean {
  const path = pathBelow(basePath, request);
  if (path === undefined) return false;
  if (basePath !== "" || /^\/(?:(?:gateway|actors)(?:\/|$)|(?:metadata|health)$)/.test(path)) return true;
  return isRouted(path, request);
}
