import { ActorError, type InspectQuestion } from "../../protocol/index.js";
import { createActorCaller, type CallActor } from "../objects/call-actor.js";
import type { ActorNamespace } from "../objects/object-namespace.js";
import { createSocketOpener } from "../objects/open-socket.js";
import type { ActorTarget } from "../objects/resolve-stub.js";
import { isUpgrade, upgradedResponse } from "../request/socket-opening.js";
import { requireMethod } from "../request/preconditions.js";
import type { PartRequest, RouterPart } from "../routes/router-part.js";
import { actsAt, readAct } from "./inspect-act.js";
import { inspectedTarget, isQuestion, questionOf } from "./inspect-query.js";
import { Operators, type InspectorOptions, type Operator } from "./operators.js";
import { servePage } from "./serve-page.js";
import { endedCookie, sessionCookie } from "./session-cookie.js";

const PATH = "/inspector";
const READ = ["GET"];

/** The inspector's routes, and whether the machine itself is all that they let in. */
export interface InspectorRoutes extends RouterPart {
  readonly isForLoopback: boolean;
}

/**
 * The page, and the routes below `/inspector/api`. Every one of these asks who may use it, before it says whether it exists.
 *
 * @throws TypeError when an option is unknown or not valid
 */
export function inspectorRoutes(options?: InspectorOptions, now: () => number = Date.now): InspectorRoutes {
  const operators = new Operators(options);
  return {
    path: PATH,
    isForLoopback: operators.isForLoopback,
    async serve(asked) {
      const { request, url, env } = asked;
      const page = servePage(asked);
      if (page) return page;
      const operator = await operators.identify(request, url, env, now());
      const [, path] = /^\/api(\/.*)$/.exec(asked.rest) ?? [];
      if (path === "/me") return got(request, () => json(operator));
      if (path === "/actors") return got(request, () => json({ actors: [...asked.actorNames] }));
      if (path === "/session") return serveSession(asked, operator, operators.tokenOf(env), now());
      if (path === "/watch") return got(request, () => openWatch(asked));
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
  { request, url, mountPath }: PartRequest,
  operator: Operator,
  token: string | undefined,
  nowMs: number,
): Promise<Response> {
  requireMethod(request, ["POST", "DELETE"]);
  const scope = { path: mountPath, isSecure: url.protocol === "https:" };
  const isBegun = request.method === "POST";
  if (isBegun && (token === undefined || !Operators.holdsToken(operator)))
    throw new ActorError("inspector", "forbidden", "A session is given for the token only; you need none.");
  const cookie = isBegun && token !== undefined ? await sessionCookie(token, nowMs, scope) : endedCookie(scope);
  return new Response(null, { status: 204, headers: { "set-cookie": cookie, "cache-control": "no-store" } });
}

/** Opens a socket that is told what changes. */
async function openWatch(asked: PartRequest): Promise<Response> {
  const { request, url, objects, sockets } = asked;
  if (!isUpgrade(request))
    throw new ActorError("actor", "invalid_request", "This route takes WebSocket upgrades only.");
  const open = createSocketOpener(objects, undefined, callerOf(objects));
  const operation = { kind: "resolve", inspect: { about: "watch" } } as const;
  return upgradedResponse(
    await open({ target: inspectedTarget(url.searchParams), operation }),
    request.headers,
    sockets,
  );
}

/** The history of one actor, in the form of a list: there is no directory of all actors to take others from. */
async function serveHistories(asked: PartRequest): Promise<Response> {
  const { searchParams } = asked.url;
  const text = new TextDecoder().decode(await ask(asked, inspectedTarget(searchParams), { about: "recorded" }));
  const history = JSON.parse(text) as { readonly run: { readonly status: string } };
  const status = searchParams.get("status");
  return json({ histories: status === null || history.run.status === status ? [history] : [] });
}

/** The callers of objects, one for each namespace: they call actors that the registry does not know, too. */
const callers = new WeakMap<object, CallActor>();

function callerOf(objects: ActorNamespace): CallActor {
  let call = callers.get(objects);
  if (call === undefined) callers.set(objects, (call = createActorCaller(objects, { actorNames: undefined })));
  return call;
}

/** @throws {feature/unsupported} when the object is of an earlier release; the actor's errors */
async function ask({ objects }: PartRequest, target: ActorTarget, inspect: InspectQuestion): Promise<Uint8Array> {
  const { output } = await callerOf(objects)({ target, operation: { kind: "resolve", inspect } });
  if (output !== undefined) return output;
  throw new ActorError("feature", "unsupported", "The actor's object is of a release without the inspector.");
}

function json(value: object): Response {
  return jsonText(JSON.stringify(value));
}

function jsonText(body: string | Uint8Array): Response {
  const headers = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  return new Response(body as BodyInit, { headers });
}
