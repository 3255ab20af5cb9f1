import { ActorError, formatRestKey, parseRestKey, has, textOf, type Creation } from "../../protocol/index.js";
import { readConnParams } from "../request/read-params.js";
import { readInput } from "../request/creation-input.js";
import { forwardedRequest } from "../request/forwarded-request.js";
import type { ActorCall, ActorReply, CallActor } from "../objects/call-actor.js";
import { checkNamespace } from "../request/preconditions.js";
import { readBody } from "../request/read-body.js";
import type { ActorTarget } from "../objects/resolve-stub.js";
import type { RoutedRequest, RouteOptions } from "./routed-request.js";

/**
 * Room for the largest input in base64 (5.6 MB), for a client whose CBOR is longer than ours, and for the other fields.
 */
const MAX_BODY_BYTES = 6 * 1024 * 1024;
const MAX_IDS = 32;
const RESOLVE = { kind: "resolve" } as const;
const DEFAULT_NAMESPACE = "default";

/** The body of `PUT` and `POST /actors`. */
interface ActorSpec {
  readonly name: string;
  readonly key: readonly string[];
  readonly input: Uint8Array | undefined;
  readonly region: string | undefined;
}

/**
 * Serves `/actors`: looking up and creating, which are as open as the gateway. Throws the caller's mistakes.
 */
export async function serveActors(routed: RoutedRequest, options: RouteOptions): Promise<Response> {
  const { request, url, access } = routed;
  const { callActor } = access;
  const query = url.searchParams;
  checkNamespace(query.get("namespace"), options.namespace);
  const namespace = query.get("namespace") ?? options.namespace ?? DEFAULT_NAMESPACE;
  if (request.method === "PUT" || request.method === "POST") return createOrGet(routed, namespace, options);
  const params = readConnParams(request.headers);
  const found = await Promise.all(
    targetsOf(query).map((target) => find({ target, ...(params !== undefined && { params }) }, callActor)),
  );
  const actors = found.filter((reply) => reply !== undefined).map((reply) => actorJson(reply, namespace));
  return Response.json({ actors, pagination: {} });
}

async function createOrGet(
  { request, url, access }: RoutedRequest,
  namespace: string,
  { token }: RouteOptions,
): Promise<Response> {
  const body = await readBody(request, MAX_BODY_BYTES, () => {
    return new ActorError("actor", "input_too_large", `The body has more than ${MAX_BODY_BYTES} bytes.`, {
      metadata: { limitBytes: MAX_BODY_BYTES },
    });
  });
  const { name, key, input, region } = parseSpec(textOf(body));
  const mode = request.method === "PUT" ? "getOrCreate" : "create";
  const creation: Creation = { mode, ...(input !== undefined && { input }) };
  const target: ActorTarget = { name, key, creation, ...(region !== undefined && { region }) };
  const params = readConnParams(request.headers);
  const seen = forwardedRequest(request, url, "");
  // The deployment's token is for management only.
  const headers = seen.headers.filter(
    ([header, value]) => header !== "authorization" || token === undefined || value !== `Bearer ${token}`,
  );
  const reply = await access.callActor({
    target,
    operation: RESOLVE,
    request: { ...seen, headers },
    ...(params !== undefined && { params }),
  });
  const actor = actorJson({ ...reply, name, key }, namespace);
  return Response.json(mode === "create" ? { actor } : { actor, created: reply.created }, {
    headers: { "x-rivet-actor": reply.actorId },
  });
}

function parseSpec(text: string): ActorSpec {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ActorError("encoding", "invalid", "The body is not JSON.");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw invalidRequest("The body is not a JSON object.");
  const textField = (field: string): string | undefined => {
    const value = Object.hasOwn(body, field) ? (body as Record<string, unknown>)[field] : undefined;
    if (value !== undefined && value !== null && typeof value !== "string")
      throw invalidRequest(`The field ${field} is not a string.`);
    return value ?? undefined;
  };
  const name = textField("name");
  if (name === undefined) throw invalidRequest("The field name is missing.");
  const input = textField("input");
  return {
    name,
    key: parseRestKey(textField("key") ?? ""),
    input: input === undefined ? undefined : readInput(input, "input"),
    region: textField("datacenter"),
  };
}

/** The actors a query asks for: one by name and key, or some by id. */
function targetsOf(query: URLSearchParams): ActorTarget[] {
  const ids = query.get("actor_ids");
  if (ids !== null) {
    const list = ids.split(",").filter((id) => id !== "");
    if (list.length > MAX_IDS)
      throw new ActorError("guard", "query_invalid_params", `actor_ids has more than ${MAX_IDS} ids.`);
    return list.map((actorId) => ({ actorId }));
  }
  const name = query.get("name");
  const key = query.get("key");
  if (name === null || key === null)
    throw new ActorError("guard", "query_invalid_params", "The query is name and key, or actor_ids.");
  return [{ name, key: parseRestKey(key), creation: { mode: "get" } }];
}

/** The actor's listing, or undefined only if there is no such actor. */
async function find(call: Omit<ActorCall, "operation">, callActor: CallActor): Promise<ActorReply | undefined> {
  const { target } = call;
  try {
    const reply = await callActor({ ...call, operation: RESOLVE });
    return has(target, "name") ? { ...reply, name: target.name, key: target.key } : reply;
  } catch (error) {
    const isAbsent =
      ActorError.isActorError(error) &&
      error.group === "actor" &&
      (error.code === "not_found" || error.code === "invalid_id");
    if (isAbsent) return undefined;
    throw error;
  }
}

function actorJson(
  { actorId, name = "", key = [], createdAt }: ActorReply,
  namespace: string,
): Record<string, unknown> {
  return {
    actor_id: actorId,
    name,
    key: formatRestKey(key),
    namespace_id: namespace,
    datacenter: "default",
    runner_name_selector: "default",
    crash_policy: "sleep",
    create_ts: createdAt,
  };
}

function invalidRequest(message: string): ActorError {
  return new ActorError("actor", "invalid_request", message);
}
