import { toErrorData, wireCodec, own, type ErrorData } from "../../protocol/index.js";

/** Where internal errors are written. A pino-like logger is one. */
export interface RouterLog {
  error(entry: Readonly<Record<string, unknown>>): void;
  warn(entry: Readonly<Record<string, unknown>>): void;
}

/** An error on its way to the caller. */
export interface Failure {
  readonly data: ErrorData;
  readonly status: number;
}

export interface FailurePorts {
  readonly log: RouterLog | undefined;
  readonly newErrorId: () => string;
  /** Unmasked texts, for local development. */
  readonly expose: boolean;
}

/** What the caller may see of anything thrown. What it may not see is logged, under an id that the answer carries. */
export function failureOf(error: unknown, ports: FailurePorts, logFields: Readonly<Record<string, unknown>>): Failure {
  const { data, status, internal } = toErrorData(error, { expose: ports.expose });
  if (!internal) return { data, status };
  const errorId = ports.newErrorId();
  ports.log?.error({ msg: "Request failed with an internal error", errorId, ...logFields, error });
  return { data: { ...data, metadata: { ...asRecord(data.metadata), errorId } }, status };
}

/** Errors are JSON whatever the caller's encoding is: `{group, code, message, metadata, actor?}`. */
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

/** An error's own fields may be a user's, and hold anything. */
function isHeaderText(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]{1,200}$/.test(value);
}

function isErrorStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
