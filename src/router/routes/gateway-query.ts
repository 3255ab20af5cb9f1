import {
  ActorError,
  formatLegacyKey,
  parseActorId,
  parseJsonKey,
  parseLegacyKey,
  type Creation,
} from "../../protocol/index.js";
import { readInput } from "../request/creation-input.js";
import type { ActorTarget } from "../objects/resolve-stub.js";

/** A query split into our parameters and the user's, whose pairs keep their order and bytes. */
export interface GatewayQuery {
  readonly params: ReadonlyMap<string, string>;
  readonly userQuery: string;
}

const ALWAYS = new Set(["rvt-namespace", "rvt-token", "rvt-skip-ready-wait"]);
const BY_KEY = new Set(["rvt-method", "rvt-key", "rvt-key-json"]);
const GET_OR_CREATE = new Set(["rvt-runner", "rvt-pool", "rvt-input", "rvt-region", "rvt-crash-policy"]);
/** Matches an id of another server, or part of one, to tell it from a name with missing parameters. */
const FOREIGN_ID = /^[0-9a-f][0-9a-z-]{23,}$/i;
const CRASH_POLICIES = new Set(["sleep", "restart", "destroy"]);

/**
 * Reads the query of a gateway URL, with or without its "?".
 *
 * @throws {guard/query_invalid_params} when an `rvt-` parameter is unknown or wrongly encoded
 * @throws {guard/query_duplicate_param} when an `rvt-` parameter is given twice
 */
export function parseGatewayQuery(search: string): GatewayQuery {
  const params = new Map<string, string>();
  const userPairs: string[] = [];
  for (const pair of search.replace(/^\?/, "").split("&")) {
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (name === undefined || !name.startsWith("rvt-")) {
      if (pair !== "") userPairs.push(pair);
      continue;
    }
    if (!ALWAYS.has(name) && !BY_KEY.has(name) && !GET_OR_CREATE.has(name))
      throw invalid(`There is no parameter ${shown(name)}.`);
    if (params.has(name)) throw duplicate(name);
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1));
    if (value === undefined) throw invalid(`${name} is not percent-encoded UTF-8.`);
    params.set(name, value);
  }
  if (params.has("rvt-runner") && params.has("rvt-pool")) throw duplicate("rvt-pool (the same as rvt-runner)");
  return { params, userQuery: userPairs.join("&") };
}

/** The user's query as the actor may see it, without the router's token. `search`: with or without its "?". */
export function withoutToken(search: string): string {
  const isToken = (pair: string): boolean => decode(pair.split("=", 1)[0] ?? "") === "rvt-token";
  return search
    .replace(/^\?/, "")
    .split("&")
    .filter((pair) => !isToken(pair))
    .join("&");
}

/**
 * The target a gateway URL names.
 *
 * @throws {guard/query_invalid_params} when the parameters do not name an actor
 * @throws the errors of `parseGatewayQuery`
 */
export function targetOf(actor: string, params: ReadonlyMap<string, string>): ActorTarget {
  const skipReadyWait = params.get("rvt-skip-ready-wait");
  if (skipReadyWait !== undefined && skipReadyWait !== "true" && skipReadyWait !== "false")
    throw invalid("rvt-skip-ready-wait is true or false.");
  if (parseActorId(actor) !== undefined) {
    const [extra] = [...params.keys()].filter((name) => !ALWAYS.has(name));
    if (extra !== undefined) throw invalid(`${extra} has no meaning with an actor's id.`);
    return { actorId: actor };
  }
  if (params.size === 0 && FOREIGN_ID.test(actor))
    throw new ActorError("actor", "not_found", `There is no actor with the id ${shown(actor)}.`);
  if (!params.has("rvt-namespace")) throw invalid("rvt-namespace is missing.");
  const method = params.get("rvt-method");
  if (method === undefined) throw invalid("rvt-method is missing: get or getOrCreate.");
  const key = keyOf(params.get("rvt-key"), params.get("rvt-key-json"));
  if (method === "get") {
    const [extra] = [...params.keys()].filter((name) => GET_OR_CREATE.has(name));
    if (extra !== undefined) throw invalid(`${extra} has no meaning with rvt-method=get.`);
    return { name: actor, key, creation: { mode: "get" } };
  }
  if (method !== "getOrCreate") throw invalid("rvt-method is get or getOrCreate.");
  const crashPolicy = params.get("rvt-crash-policy");
  if (crashPolicy !== undefined && !CRASH_POLICIES.has(crashPolicy))
    throw invalid("rvt-crash-policy is sleep, restart or destroy.");
  const region = params.get("rvt-region");
  return { name: actor, key, creation: creationOf(params.get("rvt-input")), ...(region !== undefined && { region }) };
}

/** Reads both forms of the key, which must agree if both are given. Only `rvt-key-json` distinguishes all keys. */
function keyOf(legacy: string | undefined, json: string | undefined): readonly string[] {
  if (json === undefined) return parseLegacyKey(legacy ?? "");
  const key = parseJsonKey(json);
  if (legacy !== undefined && legacy !== formatLegacyKey(key))
    throw invalid("rvt-key and rvt-key-json name different keys.");
  return key;
}

function creationOf(input: string | undefined): Creation {
  return input === undefined ? { mode: "getOrCreate" } : { mode: "getOrCreate", input: readInput(input, "rvt-input") };
}

function decode(text: string): string | undefined {
  // Most names and values are as they were sent, and the platform takes its time to say so.
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function shown(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name;
}

function invalid(message: string): ActorError {
  return new ActorError("guard", "query_invalid_params", message);
}

function duplicate(name: string): ActorError {
  return new ActorError("guard", "query_duplicate_param", `The parameter ${name} stands twice.`);
}
