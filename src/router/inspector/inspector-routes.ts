import { ActorError } from "../../protocol/index.js";
import { requireUpgrade, upgradedResponse } from "../request/socket-opening.js";
import { requireMethod } from "../request/preconditions.js";
import type { PartRequest, RouterPart } from "../routes/router-part.js";
import { ask, json, jsonText, openWatch } from "./ask.js";
import { actsAt, readAct } from "./inspect-act.js";
import { inspectedTarget, isQuestion, questionOf } from "./inspect-query.js";
import { Operators, type InspectorOptions, type Operator } from "./operators.js";
import { isRivetPath, serveRivet } from "./rivet-routes.js";
import { servePage } from "./serve-page.js";
import { endedCookie, sessionCookie } from "./session-cookie.js";

const OWN_PATH = /^\/inspector(\/.*)?$/s;
const READ = ["GET"];

/** The inspector's routes, and whether the machine itself is all that they let in. */
export interface InspectorRoutes extends RouterPart {
  readonly isForLoopback: boolean;
}

/**
 * The page, the routes below `/inspector/api`, and those of RivetKit's inspector. Every one of these asks who may use it, before it
 * says whether it exists.
 *
 * @throws TypeError when an option is unknown or not valid
 */
export function inspectorRoutes(options?: InspectorOptions, now: () => number = Date.now): InspectorRoutes {
  const operators = new Operators(options);
  return {
    owns: (path) => OWN_PATH.test(path) || isRivetPath(path),
    isForLoopback: operators.isForLoopback,
    async serve(asked) {
      const { request, url, env } = asked;
      const page = servePage(asked);
      if (page) return page;
      const isRivet = isRivetPath(asked.path);
      const operator = await operators.identify(request, url, env, isRivet ? undefined : now());
      if (isRivet) return serveRivet(asked, operator);
      const [, path] = /^\/inspector\/api(\/.*)$/s.exec(asked.path) ?? [];
      if (path === "/me") return got(request, () => json(operator));
      if (path === "/actors") return got(request, () => json({ actors: [...asked.actorNames] }));
      if (path === "/session") return serveSession(asked, operator, operators.tokenOf(env), now());
      if (path === "/watch") return got(request, () => serveWatch(asked));
      if (path === "/histories") return got(request, () => serveHistories(asked));
      return serveActor(asked, path ?? "", operator);
    },
  };
}

/** Answers a question about an actor, or does something to it. */
async function serveActor(asked: PartRequest, path: string, operator: Operator): Promise<Response> {
  const { request, url } = asked;
  const query = url.searchParams;
  const acts = actsAt(path);
  const question = request.method === "GET" || acts.length === 0 ? questionOf(path, query) : undefined;
  if (question === undefined && acts.length === 0)
    throw new ActorError("guard", "no_route", "The inspector has no such route.");
  requireMethod(request, isQuestion(path) ? [...READ, ...acts] : acts);
  const inspect = question ?? (await readAct(request, url, path, operator));
  return jsonText(await ask(asked, inspectedTarget(query), inspect));
}

function got(request: Request, serve: () => Response | Promise<Response>): Response | Promise<Response> {
  requireMethod(request, READ);
  return serve();
}

/** Exchanges the token for a cookie, and ends it. */
async function serveSession(
  { request, url, basePath }: PartRequest,
  operator: Operator,
  token: string | undefined,
  nowMs: number,
): Promise<Response> {
  requireMethod(request, ["POST", "DELETE"]);
  const scope = { path: `${basePath}/inspector`, isSecure: url.protocol === "https:" };
  const isBegun = request.method === "POST";
  if (isBegun && (token === undefined || !Operators.holdsToken(operator)))
    throw new ActorError("inspector", "forbidden", "A session is given for the token only; you need none.");
  const cookie = isBegun && token !== undefined ? await sessionCookie(token, nowMs, scope) : endedCookie(scope);
  return new Response(null, { status: 204, headers: { "set-cookie": cookie, "cache-control": "no-store" } });
}

/** Opens a socket that is told what changes. */
async function serveWatch(asked: PartRequest): Promise<Response> {
  const { request, url, sockets } = asked;
  requireUpgrade(request);
  return upgradedResponse(await openWatch(asked, inspectedTarget(url.searchParams)), request.headers, sockets);
}

/** The history of one actor, in the form of a list: there is no directory of all actors to take others from. */
async function serveHistories(asked: PartRequest): Promise<Response> {
  const { searchParams } = asked.url;
  const text = new TextDecoder().decode(await ask(asked, inspectedTarget(searchParams), { about: "recorded" }));
  const history = JSON.parse(text) as { readonly run: { readonly status: string } };
  const status = searchParams.get("status");
  return json({ histories: status === null || history.run.status === status ? [history] : [] });
}
