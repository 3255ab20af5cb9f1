/** The routes of RivetKit's inspector, below an actor's gateway path: the questions and acts of ours, in its shapes. */
import {
  ActorError,
  decodeJson,
  encodeJson,
  encodeValue,
  has,
  own,
  textOf,
  type InspectQuestion,
} from "../../protocol/index.js";
import { decodeSegment, gatewayActor } from "../request/gateway-path.js";
import { checkNamespace, requireMethod } from "../request/preconditions.js";
import { readBody } from "../request/read-body.js";
import { requireUpgrade } from "../request/socket-opening.js";
import type { ActorTarget } from "../objects/resolve-stub.js";
import { parseGatewayQuery, targetOf } from "../routes/gateway-query.js";
import type { PartRequest } from "../routes/router-part.js";
import { jsonText } from "./ask.js";
import { mayAct, tooLong, MAX_BODY_BYTES } from "./inspect-act.js";
import type { Operator } from "./operators.js";
import { MAX_MESSAGES, RivetAnswers } from "./rivet-answers.js";
import { openRivetSocket } from "./rivet-socket.js";

const PATH = /^\/gateway\/([^/]*)\/inspector(?:\/(.*))?$/s;
const DEFAULT_LIMIT = 100;
const MAX_ROWS = 500;

export function isRivetPath(path: string): boolean {
  return PATH.test(path);
}

/** A request to such a route, by someone who may ask. */
interface Asked {
  readonly request: Request;
  readonly query: URLSearchParams;
  readonly answers: RivetAnswers;
  readonly operator: Operator;
}

/** Its own members only. */
type Body = Readonly<Record<string, unknown>>;
type Serve = (asked: Asked) => Promise<object>;

/** By path and method. */
const ROUTES: Readonly<Record<string, Readonly<Record<string, Serve>>>> = {
  state: {
    GET: ({ answers }) => answers.state(),
    PATCH: async (asked) => {
      const body = await bodyOf(asked);
      if (!has(body, "state")) throw invalid('The body is { "state": … }.');
      await act(asked, { about: "setState", value: encodeValue(body["state"]), ifMatch: "*" });
      return { ok: true };
    },
  },
  connections: { GET: ({ answers }) => answers.connections() },
  rpcs: {
    GET: async ({ answers }) => {
      const { actions } = await answers.ask<{ actions: readonly string[] }>({ about: "summary" });
      return { rpcs: [...actions].sort() };
    },
  },
  queue: {
    GET: ({ answers, query }) => answers.queue(numberOf(query, "limit", DEFAULT_LIMIT, 1, MAX_MESSAGES)),
    POST: async (asked) => {
      const { name, body = null } = await bodyOf(asked);
      if (typeof name !== "string" || name === "") throw invalid('The body is { "name": the queue, "body"?: … }.');
      const sent = await act<Sent>(asked, { about: "send", queue: name, value: encodeValue(body) });
      return { id: sent.id, name: sent.queue, createdAtMs: sent.createdAt };
    },
    DELETE: async (asked) => {
      await act(asked, { about: "drain" });
      return {};
    },
  },
  "workflow-history": { GET: ({ answers }) => answers.workflow() },
  "workflow/replay": {
    POST: async (asked) => {
      const { entryId } = await bodyOf(asked);
      if (entryId !== undefined && entryId !== null && typeof entryId !== "string")
        throw invalid("entryId is the id of an entry.");
      await act(asked, { about: "replayFrom", ...(typeof entryId === "string" && { id: entryId }) });
      return asked.answers.workflow();
    },
  },
  // The platform has the traces.
  traces: { GET: async () => ({ otlp: [], clamped: false }) },
  summary: {
    GET: async ({ answers }) => {
      const { hiddenTabs: _tabs, history, ...summary } = await answers.summary();
      return { ...summary, workflowHistory: history };
    },
  },
  "database/schema": { GET: ({ answers }) => answers.schema() },
  "database/rows": {
    GET: ({ answers, query }) => {
      const table = query.get("table");
      if (table === null) throw invalid("The query lacks the table.");
      const limit = numberOf(query, "limit", DEFAULT_LIMIT, 1, MAX_ROWS);
      return answers.rows(table, limit, numberOf(query, "offset", 0, 0, Number.MAX_SAFE_INTEGER));
    },
  },
  "database/execute": {
    POST: async (asked) => {
      const body = await bodyOf(asked);
      const { sql } = body;
      if (typeof sql !== "string" || sql.trim() === "")
        throw invalid('The body is { "sql": …, "args"?, "properties"? }.');
      return act(asked, { about: "sql", sql, parameters: encodeValue(namedOr(body, (named) => named)) });
    },
  },
};

/** Calls an action by its name in the path. */
const callAction =
  (action: string): Serve =>
  async (asked) => {
    const args = encodeValue(namedOr(await bodyOf(asked), (named) => [named]));
    return act(asked, { about: "call", action, args });
  };

/** @throws {guard/no_route} when there is no such route; what the actor answers */
export async function serveRivet(asked: PartRequest, operator: Operator): Promise<Response> {
  const { request, url, path, namespace } = asked;
  const [, segment = "", rest = ""] = PATH.exec(path) ?? [];
  if (rest === "connect") {
    requireMethod(request, ["GET"]);
    requireUpgrade(request);
    return openRivetSocket(asked, actorOf(segment, url, namespace), operator);
  }
  const methods = routeAt(rest);
  const allowed = Object.keys(methods);
  requireMethod(request, allowed);
  const answers = new RivetAnswers(asked, actorOf(segment, url, namespace));
  const serve = methods[request.method] as Serve;
  const answer = await serve({ request, query: url.searchParams, answers, operator });
  return jsonText(encodeJson(answer, { extended: true }));
}

function routeAt(rest: string): Readonly<Record<string, Serve>> {
  if (Object.hasOwn(ROUTES, rest)) return ROUTES[rest] as Readonly<Record<string, Serve>>;
  const action = rest.startsWith("action/") ? decodeSegment(rest.slice("action/".length)) : undefined;
  if (action === undefined) throw new ActorError("guard", "no_route", "The inspector has no such route.");
  return { POST: callAction(action) };
}

/** The actor that path and query name. Whatever the query says, looking creates none. */
function actorOf(segment: string, url: URL, namespace: string | undefined): ActorTarget {
  const { params } = parseGatewayQuery(url.search);
  checkNamespace(params.get("rvt-namespace"), namespace);
  const target = targetOf(gatewayActor(segment), params);
  return has(target, "actorId") ? target : { name: target.name, key: target.key, creation: { mode: "get" } };
}

interface Sent {
  readonly id: string;
  readonly queue: string;
  readonly createdAt: number;
}

type WithoutName<A> = A extends { readonly by: string } ? Omit<A, "by"> : never;

/** Does something as this operator. @throws {inspector/forbidden} when they only look */
export function act<T extends object>(
  { answers, operator }: Pick<Asked, "answers" | "operator">,
  what: WithoutName<InspectQuestion>,
): Promise<T> {
  return answers.ask<T>({ ...what, by: mayAct(operator) } as InspectQuestion);
}

/** The body, an object in JSON with tags; an empty one is `{}`. */
async function bodyOf({ request, operator }: Asked): Promise<Body> {
  mayAct(operator);
  const text = textOf(await readBody(request, MAX_BODY_BYTES, tooLong));
  const body = text === "" ? {} : decodeJson(text);
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw invalid("The body is an object in JSON.");
  return own(body) as Body;
}

/** `args`, or what `byName` makes of `properties`; without both no arguments. */
function namedOr({ args, properties }: Body, byName: (properties: object) => unknown): unknown {
  if (args !== undefined && properties !== undefined)
    throw invalid("The body has either args or properties, not both.");
  if (properties === undefined) {
    if (args !== undefined && !Array.isArray(args)) throw invalid("args is an array.");
    return args ?? [];
  }
  if (typeof properties !== "object" || properties === null || Array.isArray(properties))
    throw invalid("properties is an object.");
  return byName(properties);
}

function numberOf(query: URLSearchParams, name: string, otherwise: number, least: number, most: number): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least)) throw invalid(`${name} is a whole number of at least ${least}.`);
  return Math.min(number, most);
}

function invalid(message: string): ActorError {
  return new ActorError("actor", "invalid_request", message);
}
