import { PACKAGE_VERSION } from "../../protocol/index.js";
import { actorMetadata, destroyActor, notManaged, requireManager, sleepActor } from "./actors-management.js";
import { serveActors } from "./actors-rest.js";
import { atActor, atName, metricsNotServed } from "./gateway.js";
import { withoutToken } from "./gateway-query.js";
import { headerTarget, protocolTarget } from "./header-target.js";
import type { Route } from "./route.js";
import type { ActorRequest, RoutedRequest, RouteOptions } from "./routed-request.js";
import { serveAction } from "./serve-action.js";
import { serveConnect } from "./serve-connect.js";
import { serveQueue } from "./serve-queue.js";
import { serveRequest } from "./serve-request.js";

const RUNTIME = "rivetkit";
const READ = ["GET", "HEAD"];

/** Every path the router serves, below the base path. The first row is the way of most calls. */
// oxfmt-ignore
export function routeTable(options: RouteOptions): readonly [action: Route, ...others: Route[]] {
  const guard = (routed: RoutedRequest): void => requireManager(routed, options);
  const actors = (routed: RoutedRequest): Promise<Response> => serveActors(routed, options);
  const names = (): object => actorMetadata(options.actorNames);
  return [
    { path: "/gateway/:actor/action/:name", methods: ["POST"], serve: atName((asked, name) => serveAction(asked, name, options), options) },
    { path: "/gateway/:actor/queue/:name", methods: ["POST"], serve: atName((asked, name) => serveQueue(asked, name, options), options) },
    { path: "/gateway/:actor/request/*", serve: atActor((asked, rest = "") => serveRequest(asked, `/${rest}`), options) },
    { path: "/gateway/:actor/connect/*", serve: atActor((asked) => serveConnect(asked), options) },
    { path: "/gateway/:actor/websocket/*", serve: atActor((asked, rest = "") => serveConnect(asked, rest), options) },
    { path: "/gateway/:actor/metrics/*", serve: metricsNotServed },
    { path: "/request/*", serve: (routed, rest = "") => serveRequest(atHeaders(routed), `/${rest}`) },
    { path: "/connect", serve: (routed) => serveConnect(atProtocols(routed)) },
    { path: "/websocket/*", serve: (routed, rest = "") => serveConnect(atProtocols(routed), rest) },
    { path: "/actors", methods: [...READ, "PUT", "POST"], serve: actors },
    { path: "/actors/", methods: [...READ, "PUT", "POST"], serve: actors },
    { path: "/actors/names", guard, methods: READ, serve: () => Response.json({ names: names(), pagination: {} }) },
    { path: "/actors/:id", guard, methods: ["DELETE"], serve: (routed, id = "") => destroyActor(routed, id) },
    { path: "/actors/:id/sleep", guard, methods: ["POST"], serve: (routed, id = "") => sleepActor(routed, id) },
    { path: "/actors/*", guard, serve: (_routed, rest = "") => notManaged(rest) },
    { path: "/metadata", methods: READ, serve: () => Response.json({ ...about(), actorNames: names() }) },
    { path: "/health", methods: READ, serve: () => Response.json({ status: "ok", ...about() }) },
  ];
}

function about(): { runtime: string; version: string } {
  return { runtime: RUNTIME, version: PACKAGE_VERSION };
}

/** A path that names no actor: its headers do. */
function atHeaders(routed: RoutedRequest): ActorRequest {
  return { ...routed, target: headerTarget(routed.request.headers), userQuery: withoutToken(routed.url.search) };
}

/** A path that names no actor: its subprotocols do. */
function atProtocols(routed: RoutedRequest): ActorRequest {
  return { ...routed, target: protocolTarget(routed.request.headers), userQuery: withoutToken(routed.url.search) };
}
