import {
  decodeValue,
  encodeValue,
  toErrorData,
  type ErrorData,
  own,
  ownField,
  saysNotRun,
} from "../../protocol/index.js";
import { describe, legible } from "../activation/thrown.js";
import type { ActorPorts } from "../ports.js";
import { whoOf, type ActorRecord } from "../storage/record.js";

/** How and where a call failed. */
export interface FailedCall {
  readonly status: number;
  /** The id under which the masked error is logged. */
  readonly errorId: string | undefined;
  readonly record: ActorRecord | undefined;
  /** Whether the call had passed the start gate, so the actor's code may have run for it. */
  readonly hasBegun: boolean;
}

type FailurePorts = Pick<ActorPorts, "log" | "randomHex" | "userCode">;

/**
 * `toErrorData` for anything that was thrown. Its metadata is copied, or dropped if it cannot be encoded. Never throws.
 */
export function readThrown(thrown: unknown): ReturnType<typeof toErrorData> {
  try {
    const { data, ...rest } = toErrorData(legible(thrown));
    const { metadata, actor, ...texts } = own(data);
    const parts = { metadata: sendable(metadata), actor: sendable(actor) };
    return {
      data: {
        ...texts,
        ...(parts.metadata !== undefined && { metadata: parts.metadata }),
        ...(parts.actor && { actor: parts.actor }),
      },
      ...rest,
    };
  } catch {
    return toErrorData(new Error("Something was thrown that cannot be read"));
  }
}

function sendable<T>(value: T): T | undefined {
  try {
    return value === undefined ? undefined : (decodeValue(encodeValue(value)) as T);
  } catch {
    return undefined;
  }
}

/** The error that a caller gets. An internal error is masked, and logged under an id that the reply carries. */
export function tellFailure(
  thrown: unknown,
  ports: FailurePorts,
  record: ActorRecord | undefined,
  hasBegun: boolean,
  call: Readonly<Record<string, unknown>> = {},
): { error: ErrorData; status: number } {
  const { data, status, internal } = readThrown(thrown);
  const errorId = internal ? ports.randomHex(8) : undefined;
  if (errorId !== undefined) ownField(ports, "userCode")?.masked?.(errorId, thrown);
  if (internal)
    ports.log.error({
      ...(record && whoOf(record)),
      ...call,
      msg: "A call failed with an internal error",
      errorId,
      stack: describe(thrown),
    });
  return { status, error: failureData(data, { status, errorId, record, hasBegun }) };
}

/** The error of a failed call, with its log id, whether to retry, and the actor. */
export function failureData(known: ErrorData, { status, errorId, record, hasBegun }: FailedCall): ErrorData {
  const data = own(known);
  const actor = record && { actorId: record.actorId, generation: 1, key: record.key.join(",") };
  const metadata = { ...(errorId !== undefined && { errorId }), ...retryable(data, status, hasBegun) };
  return {
    ...data,
    ...(Object.keys(metadata).length > 0 && isFields(data.metadata) && { metadata: { ...data.metadata, ...metadata } }),
    ...(actor && { actor }),
  };
}

/**
 * A call that never began may be retried. A call that has begun must not be: an action may rethrow another actor's
 * "starting", but has itself run. Errors of the user's own groups and codes are left as they are.
 */
function retryable({ group, code, metadata }: ErrorData, status: number, hasBegun: boolean): { retryable?: boolean } {
  const isOurs = group === "actor" || group === "guard";
  if (status !== 503 || !isOurs) return {};
  if (hasBegun && saysNotRun({ group, code })) return { retryable: false };
  return isFields(metadata) && typeof (metadata && ownField(metadata, "retryable")) === "boolean"
    ? {}
    : { retryable: !hasBegun };
}

function isFields(metadata: unknown): metadata is Readonly<Record<string, unknown>> | undefined {
  return metadata === undefined || (typeof metadata === "object" && metadata !== null && !Array.isArray(metadata));
}
