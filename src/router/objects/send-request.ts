import {
  ActorError,
  ANSWER_HEADER,
  ENVELOPE_HEADER,
  formatEnvelopeHeader,
  type CallEnvelope,
} from "../../protocol/index.js";
import { fitHeader } from "./fit-header.js";
import { envelopeOf, platformErrorOf, type ActorCall, type CallActor } from "./call-actor.js";
import { withoutOwnHeaders } from "../request/forwarded-request.js";
import type { ActorNamespace } from "./object-namespace.js";
import { refusalOf } from "./refusal-of.js";
import { resolveStub } from "./resolve-stub.js";

/** A raw request to an actor. */
export interface RawRequest extends Omit<ActorCall, "operation" | "request"> {
  /** The request as the actor sees it. */
  readonly request: NonNullable<CallEnvelope["request"]>;
  readonly body: ReadableStream | null;
  /** Aborted when the caller is gone. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a raw request to an actor and returns its answer, redirects included. Both bodies are streams. Tried once,
 * since the actor's code may have run.
 *
 * @throws {guard/tunnel_request_aborted} when the caller is gone
 * @throws the actor's refusals, and the errors of `CallActor`
 */
export type SendRequest = (request: RawRequest) => Promise<Response>;

/** Sends raw requests to the objects of one namespace. */
export function createRequestSender(
  objects: ActorNamespace,
  actorNames: ReadonlySet<string>,
  callActor: CallActor,
): SendRequest {
  return async ({ request, body, signal, ...call }) => {
    const fitting = { ...(await fitHeader({ ...call, request }, callActor)), operation: { kind: "request" } as const };
    const resolved = resolveStub(objects, fitting.target, actorNames);
    const { request: _carried, ...envelope } = envelopeOf(fitting, resolved);
    const headers = new Headers(withoutOwnHeaders(request.headers));
    headers.set(ENVELOPE_HEADER, formatEnvelopeHeader(envelope));
    // Some clients send GET and HEAD with a body. It means nothing, and a Request must not have one.
    const isBodiless = request.method === "GET" || request.method === "HEAD";
    if (isBodiless) {
      body?.cancel().catch(() => {});
      for (const name of ["content-length", "transfer-encoding"]) if (body !== null) headers.delete(name);
    }
    // Some runtimes require `duplex` for a body that is a stream.
    const init = {
      method: request.method,
      headers,
      body: isBodiless ? null : body,
      redirect: "manual",
      signal: signal ?? null,
      duplex: "half",
    } as RequestInit;
    let response: Response;
    try {
      response = await resolved.openStub().fetch(new Request(request.url, init));
    } catch (error) {
      throw signal?.aborted ? callerHasGone() : platformErrorOf(error);
    }
    const actorId = response.headers.get(ANSWER_HEADER);
    if (actorId === null) throw await refusalOf(response);
    // A copy, since headers of a fetched response cannot be changed.
    const answer = new Response(response.body, response);
    answer.headers.delete(ANSWER_HEADER);
    answer.headers.set("x-rivet-actor", actorId);
    return answer;
  };
}

function callerHasGone(): ActorError {
  return new ActorError("guard", "tunnel_request_aborted", "The caller has gone.");
}
