import { toErrorData, wireCodec, own, type ErrorData } from "../../protocol/index.js";

/** The log of internal errors, with pino's interface. */
export interface RouterLog {
  error(entry: Readonly<Record<string, unknown>>): void;
  warn(entry: Readonly<Record<string, unknown>>): void;
}

/** An error as the caller gets it. */
export interface Failure {
  readonly data: ErrorData;
  readonly status: number;
}

export interface FailurePorts {
  readonly log: RouterLog | undefined;
  readonly newErrorId: () => string;
  /** Shows internal errors to callers, for local development. */
  readonly expose: boolean;
}

/** The part of a thrown value the caller may see. The rest is logged, under an id that the answer carries. */
export function failureOf(error: unknown, ports: FailurePorts, logFields: Readonly<Record<string, unknown>>): Failure {
  const { data, status, internal } = toErrorData(error, { expose: ports.expose });
  if (!internal) return { data, status };
  const errorId = ports.newErrorId();
  ports.log?.error({
    msg: "Request failed with an internal error",
    errorId,
    ...logFields,
    stack: (error as Error | null)?.stack ?? String(error),
  });
  return { data: { ...data, metadata: { ...asRecord(data.metadata), errorId } }, status };
}

/** The response to a failed request. Errors are JSON in every encoding: `{group, code, message, metadata, actor?}`. */
export function errorResponse(failure: Failure, extended: boolean): Response {
  const { status } = failure;
  const data = own(failure.data);
  const headers = new Headers({ "content-type": "application/json" });
  const metadata = own(asRecord(data.metadata));
  if (isHeaderText(metadata["errorId"])) headers.set("x-rivet-ray-id", metadata["errorId"]);
  if (isHeaderText(data.actor?.actorId)) headers.set("x-rivet-actor", data.actor.actorId);
  if (status === 503) headers.set("retry-after", String(retryAfterSeconds(metadata["retryAfterMs"])));
  const body = wireCodec("json").error.encode(data, { extended });
  return new Response(body, { status: isErrorStatus(status) ? status : 500, headers });
}

function retryAfterSeconds(retryAfterMs: unknown): number {
  return typeof retryAfterMs === "number" && retryAfterMs > 0 ? Math.min(Math.ceil(retryAfterMs / 1000), 3600) : 1;
}

/** An error's fields may be the user's, and of any type. */
function isHeaderText(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]{1,200}$/.test(value);
}

function isErrorStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
