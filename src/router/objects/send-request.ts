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

/** A request to an actor's own code. */
export interface RawRequest extends Omit<ActorCall, "operation" | "request"> {
  /** As the actor is to see it. */
  readonly request: NonNullable<CallEnvelope["request"]>;
  readonly body: ReadableStream | null;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request to an actor's own code and gives its answer; both bodies are streams. Redirects are answers, too. Never
 * tried twice: code of the actor may have run. Rejects with the errors of the actor's side that are no answer, and as
 * `CallActor` for the platform's; with `guard/tunnel_request_aborted` if the caller has gone.
 */
export type SendRequest = (request: RawRequest) => Promise<Response>;

/** The way to the objects of one namespace for raw requests. */
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
    // A body of theirs means nothing, and no Request may have one; it comes from clients that care for neither.
    const isBodiless = request.method === "GET" || request.method === "HEAD";
    if (isBodiless) {
      body?.cancel().catch(() => {});
      for (const name of ["content-length", "transfer-encoding"]) if (body !== null) headers.delete(name);
    }
    // `duplex` is for runtimes that want to hear it.
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
    // A copy, since what was fetched cannot be changed.
    const answer = new Response(response.body, response);
    answer.headers.delete(ANSWER_HEADER);
    answer.headers.set("x-rivet-actor", actorId);
    return answer;
  };
}

function callerHasGone(): ActorError {
  return new ActorError("guard", "tunnel_request_aborted", "The caller has gone.");
}
