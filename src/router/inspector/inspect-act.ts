import { ActorError, decodeJson, encodeValue, textOf, type InspectQuestion } from "../../protocol/index.js";
import { readBody } from "../request/read-body.js";
import type { Operator } from "./operators.js";

/** Room for the largest state in JSON. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Methods by path, of what changes something. */
const ACTS: Readonly<Record<string, readonly string[]>> = {
  "/state": ["PATCH"],
  "/queue": ["POST", "DELETE"],
  "/message": ["DELETE"],
  "/workflow/pause": ["POST"],
  "/workflow/resume": ["POST"],
  "/workflow/retry": ["POST"],
  "/workflow/recover": ["POST"],
  "/workflow/skip": ["POST"],
  "/workflow/replay": ["POST"],
  "/workflow/cancel": ["POST"],
};

/** The methods of a path that change something. */
export function actsAt(path: string): readonly string[] {
  return Object.hasOwn(ACTS, path) ? (ACTS[path] ?? []) : [];
}

/**
 * What a request asks to be done, by an operator who may.
 *
 * @throws {inspector/forbidden} when the operator only looks
 * @throws {guard/query_invalid_params} when the query or the header lacks something
 * @throws {encoding/invalid} when the body is no tagged JSON
 */
export async function readAct(request: Request, url: URL, path: string, operator: Operator): Promise<InspectQuestion> {
  const asked = await readAsked(request, url, path, operator);
  return isTrue(url.searchParams, "dryRun") ? { ...asked, dryRun: true } : asked;
}

async function readAsked(
  request: Request,
  url: URL,
  path: string,
  operator: Operator,
): Promise<Extract<InspectQuestion, { readonly by: string }>> {
  const by = mayAct(operator);
  const query = url.searchParams;
  const entry = query.get("entry");
  switch (`${request.method} ${path}`) {
    case "PATCH /state": {
      const ifMatch = request.headers.get("if-match")?.replace(/^"(.*)"$/, "$1");
      if (!ifMatch)
        throw invalid('An edit of the state needs the header If-Match: the "hash" of the state you saw, or *.');
      return { about: "setState", value: await readValue(request), ifMatch, by };
    }
    case "POST /queue":
      return { about: "send", queue: needed(query, "queue"), value: await readValue(request), by };
    case "DELETE /queue": {
      const queue = query.get("queue");
      return { about: "drain", ...(queue !== null && { queue }), by };
    }
    case "DELETE /message":
      return { about: "deleteMessage", id: needed(query, "message"), by };
    case "POST /workflow/pause": {
      const reason = query.get("reason");
      return { about: "pause", ...(reason !== null && { reason }), by };
    }
    case "POST /workflow/resume":
      return { about: "resume", by };
    case "POST /workflow/retry":
    case "POST /workflow/recover":
      return { about: "retry", by };
    case "POST /workflow/skip":
      return { about: "skip", id: needed(query, "entry"), value: await readValue(request), by };
    case "POST /workflow/cancel":
      return { about: "cancel", ...(isTrue(query, "rollback") && { rollback: true }), by };
    default:
      return { about: "replayFrom", ...(entry !== null && { id: entry }), by };
  }
}

/** The name of an operator who may act. @throws {inspector/forbidden} when they only look */
export function mayAct({ name, write }: Operator): string {
  if (write) return name;
  throw new ActorError("inspector", "forbidden", `${name} may look, and change nothing.`);
}

export function tooLong(): ActorError {
  return new ActorError("request", "too_large", `The body has more than ${MAX_BODY_BYTES} bytes.`, {
    metadata: { limitBytes: MAX_BODY_BYTES },
  });
}

/** A value in tagged JSON, as bytes of the storage codec. */
async function readValue(request: Request): Promise<Uint8Array> {
  return encodeValue(decodeJson(textOf(await readBody(request, MAX_BODY_BYTES, tooLong))));
}

/** @throws {guard/query_invalid_params} when it is neither true nor false */
function isTrue(query: URLSearchParams, name: string): boolean {
  const value = query.get(name) ?? "false";
  if (value !== "true" && value !== "false") throw invalid(`"${name}" in the query must be true or false.`);
  return value === "true";
}

function needed(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null) throw invalid(`The query lacks "${name}".`);
  return value;
}

function invalid(message: string): ActorError {
  return new ActorError("guard", "query_invalid_params", message);
}
