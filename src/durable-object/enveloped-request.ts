import { encodeValue, ENVELOPE_HEADER, parseEnvelopeHeader, toErrorData, type CallEnvelope, type ErrorData } from "../protocol/index.js";

/** What cannot be data comes as a request with its envelope in a header: serves it by its envelope. */
export async function serveByEnvelope(request: Request, serve: (envelope: CallEnvelope) => Promise<Response>): Promise<Response> {
  let envelope: CallEnvelope;
  try {
    envelope = { ...parseEnvelopeHeader(request.headers.get(ENVELOPE_HEADER)), request: requestData(request) };
  } catch (error) {
    const { data, status } = toErrorData(error);
    return refusal(data, status);
  }
  return serve(envelope);
}

/** An error as an answer: encoded as values are stored, with its status. */
export function refusal(data: ErrorData, status: number): Response {
  return new Response(encodeValue({ ...data }), { status });
}

/** What the actor's hooks may know of the request. */
function requestData({ method, url, headers }: Request): NonNullable<CallEnvelope["request"]> {
  return { method, url, headers: [...headers].filter(([name]) => name !== ENVELOPE_HEADER) };
}
