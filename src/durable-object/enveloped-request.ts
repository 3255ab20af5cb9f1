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

/** Serves an upgrade or a raw request by the envelope in its header. */
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

/** An error as a response, encoded by the storage codec. HEAD has no body, so its error is in a header. */
export function refusal({ method }: Request, data: ErrorData, status: number): Response {
  if (method === "HEAD")
    return new Response(null, { status, headers: { [REFUSAL_HEADER]: formatRefusalHeader(data) } });
  return new Response(encodeValue({ ...data }), { status });
}

/** The request as the actor's hooks see it. */
function requestData({ method, url, headers }: Request): NonNullable<CallEnvelope["request"]> {
  return { method, url, headers: [...headers].filter(([name]) => name !== ENVELOPE_HEADER) };
}
