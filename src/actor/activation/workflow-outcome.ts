/** The status of a workflow from the actor's record alone, so that it works without the workflow engine. */
import { decodeValue, own, ownField } from "../../protocol/index.js";
import type { Failure, StoredError } from "../../workflow/index.js";
import type { WorkflowErrorView, WorkflowStatus } from "../api/workflow-status.js";
import type { PausedRecord, RunTimes, WorkflowRecord } from "../storage/record.js";

/** Whether the workflow has begun and not ended. */
export function isInFlight(workflow: WorkflowRecord | undefined): boolean {
  return workflow?.status === "running" || workflow?.status === "rolling_back";
}

/** Since when it is paused, and why. */
export function pausedOf(workflow: WorkflowRecord | undefined): PausedRecord | undefined {
  return workflow?.status === "running" ? ownField(workflow, "paused") : undefined;
}

/** Whether it may go on: it has begun, has not ended and is not paused. */
export function mayRun(workflow: WorkflowRecord | undefined): boolean {
  return isInFlight(workflow) && pausedOf(workflow) === undefined;
}

/** The times of a run that goes on; with `endedAt` (epoch ms), of one that ends then. */
export function runTimes(record: WorkflowRecord | undefined, endedAt?: number): RunTimes {
  const times = record && ownField(record, "times");
  if (!times) return {};
  return { times: endedAt === undefined ? [times[0]] : [times[0], Math.max(0, endedAt - times[0])] };
}

function describeTimes(record: WorkflowRecord): Pick<WorkflowStatus, "startedAt" | "endedAt"> {
  const [startedAt, ms] = ownField(record, "times") ?? [];
  if (startedAt === undefined) return {};
  return { startedAt, ...(ms === undefined ? {} : { endedAt: startedAt + ms }) };
}

/** `divergence` says why it cannot run, if so. `wakeAt` returns its earliest deadline, epoch ms. */
export function describeWorkflow(
  record: WorkflowRecord | undefined,
  divergence: string | undefined,
  wakeAt: () => number | undefined,
): WorkflowStatus {
  return record ? { ...describeOutcome(record, divergence, wakeAt), ...describeTimes(record) } : { status: "none" };
}

function describeOutcome(
  record: WorkflowRecord,
  divergence: string | undefined,
  wakeAt: () => number | undefined,
): WorkflowStatus {
  if (record.status === "completed") return { status: "completed", output: decodeValue(record.value) };
  if (divergence !== undefined)
    return { status: "diverged", error: { name: "HistoryDivergedError", message: divergence } };
  if (record.status === "failed" || record.status === "rolling_back") return failedStatus(record);
  const paused = pausedOf(record);
  if (paused) return { status: "paused", paused: describePause(paused) };
  const at = wakeAt();
  return { status: record.status, ...(at === undefined ? {} : { wakeAt: at }) };
}

function describePause([since, reason]: PausedRecord): NonNullable<WorkflowStatus["paused"]> {
  return { since, ...(reason === undefined ? {} : { reason }) };
}

function failedStatus(record: WorkflowRecord & { readonly status: "failed" | "rolling_back" }): WorkflowStatus {
  const error = describeFailure(record.failure);
  const rollbackErrors = record.status === "failed" ? ownField(record, "rollbackErrors") : undefined;
  if (!rollbackErrors) return { status: record.status, error };
  const metadata = { ...(error.metadata as object | undefined), rollbackErrors };
  return { status: record.status, error: { ...error, metadata }, rollbackErrors };
}

/** A decoded failure. That of a join or race has the error of each branch. */
export function describeFailure(stored: Failure): WorkflowErrorView {
  const failure = own(stored);
  const error = own(failure.error);
  if (failure.kind !== "join" && failure.kind !== "race") return describeError(error);
  const { failures = [] } = own(error.metadata as { failures?: readonly BranchFailure[] } | undefined);
  const { metadata: _, ...rest } = error;
  const errors = failures.map(own).map(({ name, failure: each }) => [name, describeFailure(each)] as const);
  return { ...describeError(rest), errors: Object.fromEntries(errors) };
}

interface BranchFailure {
  readonly name: string;
  readonly failure: Failure;
}

function describeError(stored: StoredError): WorkflowErrorView {
  const { name, message, group, code, metadata, cause, errors } = own(stored);
  return {
    name,
    message,
    ...(group === undefined ? {} : { group }),
    ...(code === undefined ? {} : { code }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
    ...(errors === undefined
      ? {}
      : { errors: Object.fromEntries(errors.map((each, at) => [at, describeError(each)])) }),
  };
}
