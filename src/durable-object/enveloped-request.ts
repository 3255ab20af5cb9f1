import {
  encodeValue,
  ENVELOPE_HEADER,
  formatRefusalHeader,
  parseEnvelopeHeader,
  REFUSAL_HEADER,
  toErrorData,
  type CallEnvelope,
  type ErrorData,
} from "../protocol/index.js";

/** What cannot be data comes as a request with its envelope in a header: serves it by its envelope. */
export async function serveByEnvelope(
  request: Request,
  serve: (envelope: CallEnvelope) => Promise<Response>,
): Promise<Response> {
  let envelope: CallEnvelope;
  try {
    envelope = { ...parseEnvelopeHeader(request.headers.get(ENVELOPE_HEADER)), request: requestData(request) };
  } catch (error) {
    const { data, status } = toErrorData(error);
    return refusal(request, data, status);
  }
  return serve(envelope);
}

/** An error as an answer: encoded as values are stored, with its status. HEAD has no body, so that there it is a header. */
export function refusal({ method }: Request, data: ErrorData, status: number): Response {
  if (method === "HEAD")
    return new Response(null, { status, headers: { [REFUSAL_HEADER]: formatRefusalHeader(data) } });
  return new Response(encodeValue({ ...data }), { status });
}

/** What the actor's hooks may know of the request. */
function requestData({ method, url, headers }: Request): NonNullable<CallEnvelope["request"]> {
  return { method, url, headers: [...headers].filter(([name]) => name !== ENVELOPE_HEADER) };
}
