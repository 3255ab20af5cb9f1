import { Hono } from "hono/tiny";
import { ActorError, own } from "../../protocol/index.js";
import { authorized, type Authorize } from "./authorize.js";
import { Cors, originNotAllowed, type Admission, type CorsOptions } from "./cors.js";
import { errorResponse, failureOf, type FailurePorts, type RouterLog } from "../request/error-response.js";
import { createActorAccess, type ActorAccess } from "../objects/actor-access.js";
import { redactPath } from "../request/gateway-path.js";
import type { ActorNamespace } from "../objects/object-namespace.js";
import { HostNames } from "./host-names.js";
import { isRouted } from "./header-target.js";
import { requireMethod } from "../request/preconditions.js";
import { refuseSocket } from "../request/refuse-socket.js";
import { honoPath, matcherOf } from "./route.js";
import { routeTable } from "./route-table.js";
import type { RoutedRequest, RouteOptions } from "./routed-request.js";
import { isUpgrade, WORKER_SOCKETS, type SocketPlatform } from "../request/socket-opening.js";
import type { PartRequest, RouterPart } from "./router-part.js";
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
  /** Routes of an optional capability. */
  readonly part?: RouterPart;
  /** Shows internal errors to callers: for local development only. */
  readonly exposeErrors?: boolean;
  readonly log?: RouterLog;
  /** The runtime's sockets. Default: those of Workers. */
  readonly sockets?: SocketPlatform;
  /** Makes the id of a logged error. Default: random. */
  readonly newErrorId?: () => string;
}

/** Answers a request, or returns undefined if its path is not ours. Never rejects. */
export type Router = (request: Request, objects: ActorNamespace, env?: unknown) => Promise<Response | undefined>;

const DEFAULT_MAX_INCOMING_MESSAGE_BYTES = 65_536;
const DEFAULT_MAX_OUTGOING_MESSAGE_BYTES = 1_048_576;
const DEFAULT_MAX_QUEUE_BODY_BYTES = 1024 * 1024;

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
  const serve = createServe(
    {
      actorNames,
      maxIncomingMessageSize: options.maxIncomingMessageSize ?? DEFAULT_MAX_INCOMING_MESSAGE_BYTES,
      maxOutgoingMessageSize: options.maxOutgoingMessageSize ?? DEFAULT_MAX_OUTGOING_MESSAGE_BYTES,
      maxQueueBodySize: options.maxQueueBodySize ?? DEFAULT_MAX_QUEUE_BODY_BYTES,
      namespace: options.namespace,
      token: options.token,
    },
    { hasBanner: basePath !== "" },
  );
  const { authorize, sockets = WORKER_SOCKETS } = options;
  const accessOf = createActorAccess(actorNames, options);
  const accessTo = (request: Request, url: URL, objects: ActorNamespace, env: unknown): ActorAccess => {
    const access = accessOf(objects);
    return authorize === undefined
      ? access
      : authorized(access, request, url, (asked, target) => authorize(asked, target, env));
  };

  const failed = (error: unknown, request: Request, url: URL, isSocket: boolean): Response => {
    const failure = failureOf(error, failurePorts, { method: request.method, path: redactPath(url.pathname) });
    if (isSocket) return refuseSocket(failure, request, sockets);
    const response = errorResponse(failure, isOwnClient(request.headers));
    const allowed =
      failure.status === 405 ? (failure.data.metadata as { allowed?: unknown } | undefined)?.allowed : undefined;
    if (Array.isArray(allowed)) response.headers.set("allow", allowed.join(", "));
    return response;
  };

  const { part, namespace } = options;
  const servePart = async (serve: RouterPart["serve"], asked: PartRequest): Promise<Response> => {
    try {
      hosts.check(asked.url);
      return await serve(asked);
    } catch (error) {
      // A part's sockets are refused before they open: nobody learns of them what they may not.
      return failed(error, asked.request, asked.url, false);
    }
  };

  return async (given, objects, env) => {
    const url = new URL(given.url);
    const path = pathBelow(basePath, url);
    if (path === undefined) return undefined;
    if (part?.owns(path))
      return servePart(part.serve, {
        request: given,
        url,
        path,
        basePath,
        namespace,
        objects,
        env,
        actorNames,
        sockets,
      });
    if (!isOurs(given, path, basePath)) return undefined;
    const admission = cors.admit(given, url);
    if (given.method === "OPTIONS") return Cors.preflight(given, admission);
    let response: Response;
    try {
      hosts.check(url);
      const request = admittedAs(given, admission);
      response = await serve({ request, url, path, access: accessTo(request, url, objects, env), sockets });
    } catch (error) {
      response = failed(error, given, url, isUpgrade(given));
    }
    // An upgraded answer is for a socket, to which CORS does not apply.
    if (response.status !== 101) Cors.decorate(response, admission);
    return response;
  };
}

/** @throws {auth/origin_not_allowed} when the request's page may not call */
function admittedAs(request: Request, admission: Admission): Request {
  if (!admission.allowed) throw originNotAllowed(admission.origin);
  return admission.foreign ? Cors.asNobody(request) : request;
}

/**
 * Finds the row of the route table that a request is for, and serves it. Hono does, except for the first row: most calls are
 * actions, and for them even its smallest router is a measurable share of what the Worker does.
 */
function createServe(
  options: RouteOptions,
  { hasBanner }: { readonly hasBanner: boolean },
): (routed: RoutedRequest) => Response | Promise<Response> {
  const table = routeTable(options);
  // Rows match the path as it was sent, since names may contain an encoded slash.
  const app = new Hono<{ Bindings: RoutedRequest }>({ getPath: (_request, given) => given?.env?.path ?? "/" });
  for (const route of table) {
    const { guard, methods, serve } = own(route);
    const match = matcherOf(route);
    app.all(honoPath(route), ({ env }, next) => {
      // Hono overlooks a slash at the end.
      const found = match(env.path);
      if (found === undefined) return next();
      guard?.(env);
      if (methods !== undefined) requireMethod(env.request, methods);
      return serve(env, found[0], found[1]);
    });
  }
  if (hasBanner) app.get("/", (c) => c.text("This is a Perdure server. Clients use this URL as their endpoint."));
  app.notFound(() => {
    throw new ActorError("guard", "no_route", "There is no such route.");
  });
  app.onError((error) => {
    throw error;
  });
  const [action] = table;
  const matchAction = matcherOf(action);
  return (routed) => {
    const found = action.methods?.includes(routed.request.method) ? matchAction(routed.path) : undefined;
    return found === undefined ? app.fetch(routed.request, routed) : action.serve(routed, found[0], found[1]);
  };
}

/** "" for the root; otherwise with a leading slash and no trailing one. */
function normalizeBasePath(path: string): string {
  const trimmed = path.replace(/^\/+|\/+$/g, "");
  return trimmed === "" ? "" : `/${trimmed}`;
}

/** The path below the base path, or undefined if it is not below it. */
function pathBelow(basePath: string, { pathname }: URL): string | undefined {
  if (pathname === basePath) return "/";
  return pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : undefined;
}

function isOurs(request: Request, path: string, basePath: string): boolean {
  if (basePath !== "" || /^\/(?:(?:gateway|actors)(?:\/|$)|(?:metadata|health)$)/.test(path)) return true;
  return isRouted(path, request);
}
