import { fromErrorData, jsonCodec, type ErrorData } from "../../protocol/page.js";
import type { ClientFetch } from "../config/client-config.js";
import { MalformedResponseMessage, networkError } from "../config/errors.js";

/** One request, and how a successful answer is decoded. */
export interface HttpRequest<T> {
  readonly method: "GET" | "PUT" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal | undefined;
  /** Throws on any other answer. */
  decode(answer: Uint8Array): T;
}

/**
 * Sends a request once. Errors name `endpoint`.
 *
 * @throws {client/network_error} when no answer arrives
 * @throws {client/malformed_response} when the answer is not one of the protocol
 * @throws the server's error, or the signal's reason
 */
export async function exchange<T>(fetch: ClientFetch, endpoint: string, request: HttpRequest<T>): Promise<T> {
  const { method, url, headers, body, signal } = request;
  let response: Response;
  let answer: Uint8Array;
  try {
    response = await fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      ...(signal !== undefined && { signal }),
    });
    answer = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw networkError(endpoint, error);
  }
  let failure: ErrorData;
  try {
    if (response.ok) return request.decode(answer);
    // Errors are JSON in every encoding.
    failure = jsonCodec.error.decode(answer);
  } catch (cause) {
    throw new MalformedResponseMessage(endpoint, response.status, { cause });
  }
  throw fromErrorData(failure, response.status);
}

/** The ids in an answer to `GET /actors`. Throws on anything else. */
export function foundIds(answer: Uint8Array): string[] {
  const { actors } = parseObject(answer);
  if (!Array.isArray(actors)) throw new TypeError("The answer has no list of actors.");
  return actors.map(idOf);
}

/** The id in an answer to `PUT` or `POST /actors`. Throws on anything else. */
export function createdId(answer: Uint8Array): string {
  return idOf(parseObject(answer)["actor"]);
}

function parseObject(answer: Uint8Array): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(new TextDecoder().decode(answer));
  if (typeof value !== "object" || value === null) throw new TypeError("The answer is not an object.");
  return value as Record<string, unknown>;
}

function idOf(actor: unknown): string {
  const id = typeof actor === "object" && actor !== null ? (actor as { actor_id?: unknown }).actor_id : undefined;
  if (typeof id !== "string") throw new TypeError("The answer has an actor without id.");
  return id;
}
