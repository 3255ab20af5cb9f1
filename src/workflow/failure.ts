import { ActorError, encodeValue, own, ownField } from "../protocol/index.js";
import {
  CriticalError,
  EntryInProgressError,
  EvictedError,
  JoinError,
  RaceError,
  RollbackCheckpointError,
  RollbackError,
  StepExhaustedError,
} from "./errors.js";
import { ownFailure, type Failure } from "./history/entry.js";
import { fromStoredError, isInstance, readProperty, toStoredError, type StoredError } from "./history/stored-error.js";

/** The operation that failed for good, as a try block reports it. */
export interface FailureSource {
  readonly source: "step" | "join" | "race";
  readonly name: string;
  readonly step?: { readonly failure: Failure; readonly attempts: number };
}

/** The operation that each error came from; errors made by user code are not in it. */
const sources = new WeakMap<object, FailureSource>();

export function sourceOf(error: unknown): FailureSource | undefined {
  return typeof error === "object" && error !== null ? sources.get(error) : undefined;
}

/** The `seq` of the operation that each error came from. */
const operations = new WeakMap<object, number>();
const MAX_CAUSES = 8;

/** Notes which operation rejected with an error, for the error and its causes; an inner operation noted before stays. */
export function noteOperation(error: unknown, seq: number): void {
  for (const each of causesOf(error)) if (!operations.has(each)) operations.set(each, seq);
}

function operationOf(thrown: unknown): number | undefined {
  for (const each of causesOf(thrown)) {
    const seq = operations.get(each);
    if (seq !== undefined) return seq;
  }
  return undefined;
}

function* causesOf(thrown: unknown): IterableIterator<object> {
  let at = thrown;
  for (let depth = 0; depth < MAX_CAUSES && typeof at === "object" && at !== null; depth += 1) {
    yield at;
    at = readProperty(at, "cause");
  }
}

/** True for a step's own failure, and for a join or race whose branches all failed by a step. */
export function isOfSteps(error: unknown): boolean {
  if (isInstance(error, JoinError)) return Object.values(error.errors).every(isOfSteps);
  if (isInstance(error, RaceError))
    return error.errors.length > 0 && error.errors.every((each) => isOfSteps(each.error));
  return typeof error === "object" && error !== null && ofSteps.has(error);
}

/** Errors that are a step's failure, also if they came through a branch. */
const ofSteps = new WeakSet<object>();

/** Builds the error that a step's caller sees from the stored failure, live as on replay (FLOW-4). */
export function stepError(stepName: string, failure: Failure, attempts = 0): Error {
  const error = buildStepError(stepName, failure);
  sources.set(error, { source: "step", name: stepName, step: { failure, attempts } });
  ofSteps.add(error);
  return error;
}

function buildStepError(stepName: string, failure: Failure): Error {
  switch (failure.kind) {
    case "exhausted":
      return new StepExhaustedError(stepName, fromStoredError(failure.error));
    case "timeout":
      return failure.exhausted
        ? new StepExhaustedError(stepName, fromStoredError(failure.error))
        : new CriticalError(failure.error.message);
    default:
      return rebuild(failure);
  }
}

/** Converts the error that ended a run or a branch to a failure: its class, and enough to rebuild it. */
export function toBranchFailure(thrown: unknown, around = 0): Failure {
  const seq = operationOf(thrown);
  const ofStep = typeof thrown === "object" && thrown !== null && ofSteps.has(thrown);
  return own({ ...failureOf(thrown, around), ...(seq !== undefined && { seq }), ...(ofStep && { ofStep }) });
}

function failureOf(thrown: unknown, around: number): Failure {
  if (around < MAX_NESTED && isInstance(thrown, JoinError)) return joinFailure(thrown, around);
  if (around < MAX_NESTED && isInstance(thrown, RaceError)) return raceFailure(thrown, around);
  if (isInstance(thrown, StepExhaustedError)) {
    return own({
      kind: "exhausted" as const,
      error: own({ ...toStoredError(thrown), metadata: { stepName: thrown.stepName } }),
    });
  }
  return own({
    kind: isInstance(thrown, EvictedError) ? "evicted" : (brandOf(thrown) ?? "error"),
    error: toStoredError(thrown),
  });
}

/** How deep nested join and race failures keep their branches; deeper ones are stored as a plain error. */
const MAX_NESTED = 12;

export function joinFailure(error: JoinError, around = 0): Failure {
  const failures = Object.entries(error.errors).map(([name, each]) => ({
    name,
    failure: toBranchFailure(each, around + 1),
  }));
  return own({ kind: "join" as const, error: own({ ...toStoredError(error), metadata: { failures } }) });
}

export function raceFailure(error: RaceError, around = 0): Failure {
  const failures = error.errors.map((each) => ({ name: each.name, failure: toBranchFailure(each.error, around + 1) }));
  return own({ kind: "race" as const, error: own({ ...toStoredError(error), metadata: { failures } }) });
}

/** Truncates a failure to about `bytes` encoded bytes, not counting its fixed fields. */
export function fitFailure(failure: Failure, bytes: number): Failure {
  if (encodeValue(failure, { limitBytes: Number.MAX_SAFE_INTEGER }).byteLength <= bytes) return failure;
  const { kind, error } = failure;
  const [seq, ofStep] = [ownField(failure, "seq"), ownField(failure, "ofStep")];
  const keptKind = kind === "join" || kind === "race" ? "error" : kind;
  const cause = kind === "exhausted" && error.cause ? { cause: clipError(error.cause, bytes / 6) } : {};
  const metadata =
    kind === "exhausted"
      ? { metadata: { stepName: clip((error.metadata as { stepName: string }).stepName, bytes / 6) } }
      : {};
  return own({
    kind: keptKind,
    error: own({ ...clipError(error, kind === "exhausted" ? bytes / 6 : bytes / 3), ...metadata, ...cause }),
    ...(seq !== undefined && { seq }),
    ...(ofStep && { ofStep }),
  });
}

function clipError(error: StoredError, bytes: number): StoredError {
  const { name, message, group, code } = own(error);
  return {
    name: clip(name, 60),
    message: clip(message, bytes),
    ...(group === undefined ? {} : { group: clip(group, 60) }),
    ...(code === undefined ? {} : { code: typeof code === "string" ? clip(code, 60) : code }),
  };
}

/** Truncates to at most `bytes` bytes of UTF-8, whatever the characters. */
function clip(text: string, bytes: number): string {
  const length = Math.max(20, Math.floor(bytes / 3));
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** Builds the error of a stored branch, join or race failure; `name` is that of the join or race. */
export function branchError(failure: Failure, name?: string): Error {
  const error = failure.kind === "exhausted" ? exhausted(failure) : rebuild(failure);
  const seq = ownField(failure, "seq");
  if (seq !== undefined) noteOperation(error, seq);
  if (ownField(failure, "ofStep")) ofSteps.add(error);
  if (name !== undefined && (failure.kind === "join" || failure.kind === "race"))
    sources.set(error, { source: failure.kind, name });
  return error;
}

/** Whether a thrown value ends its step at once, by class or `name`, never by message. */
export function brandOf(thrown: unknown): "critical" | "rollback" | undefined {
  const name = typeof thrown === "object" ? readProperty(thrown, "name") : undefined;
  if (isInstance(thrown, CriticalError) || name === "CriticalError") return "critical";
  if (isInstance(thrown, RollbackError) || name === "RollbackError") return "rollback";
  return undefined;
}

/** True for faults in the code's structure: they fail the workflow, and nothing is rolled back (FLOW-21). */
export function isStructuralFault(error: unknown): boolean {
  return isInstance(error, EntryInProgressError) || isInstance(error, RollbackCheckpointError);
}

function rebuild(failure: Failure): Error {
  const { error } = failure;
  switch (failure.kind) {
    case "critical":
      return new CriticalError(error.message, {
        ...rest(error),
        ...(typeof error.code === "string" && error.group === "workflow" ? { code: error.code } : {}),
      });
    case "rollback":
      return new RollbackError(error.message, rest(error));
    case "evicted":
      return new EvictedError(error.message);
    case "join":
      return new JoinError(
        Object.fromEntries((failuresOf(failure) ?? []).map((each) => [each.name, branchError(each.failure)])),
      );
    case "race":
      return new RaceError(
        error.message,
        (failuresOf(failure) ?? []).map((each) => ({ name: each.name, error: branchError(each.failure) })),
      );
    default:
      return fromStoredError(error);
  }
}

function exhausted(failure: Failure): Error {
  const { metadata, cause } = failure.error;
  return new StepExhaustedError((metadata as { stepName: string }).stepName, cause && fromStoredError(cause));
}

/** The failures of a join's or race's branches; undefined for every other kind of failure. */
export function failuresOf({
  kind,
  error,
}: Failure): readonly { readonly name: string; readonly failure: Failure }[] | undefined {
  if (kind !== "join" && kind !== "race") return undefined;
  const { failures = [] } = own(
    error.metadata as { failures?: readonly { name: string; failure: Failure }[] } | undefined,
  );
  return failures.map(({ name, failure }) => ({ name, failure: ownFailure(failure) }));
}

function rest(error: StoredError): { metadata?: unknown; cause?: Error } {
  return {
    ...(error.metadata === undefined ? {} : { metadata: error.metadata }),
    ...(error.cause === undefined ? {} : { cause: fromStoredError(error.cause) }),
  };
}

/** A result or a write of a step cannot be stored: a retry would fail the same way. */
export function notStorable(stepName: string, cause: unknown): CriticalError {
  const metadata = ActorError.isActorError(cause)
    ? { group: cause.group, code: cause.code, ...(cause.metadata as object | undefined) }
    : {};
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new CriticalError(`Step "${stepName}" has a value that cannot be stored: ${detail}`, {
    cause,
    metadata,
    code: "not_storable",
  });
}
