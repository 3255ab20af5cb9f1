/** The status of a workflow from the actor's record alone, so that it works without the workflow engine. */
import { ActorError, decodeValue, own, ownField } from "../../protocol/index.js";
import type { Failure, StoredError } from "../../workflow/index.js";
import type { WorkflowErrorView, WorkflowStatus } from "../api/workflow-status.js";
import type { ActorRecord, PausedRecord, RunTimes, WorkflowRecord } from "../storage/record.js";

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

/** @throws {workflow/rolling_back} when the workflow is being undone, so that it cannot be `done` to */
export function refuseRollback(workflow: WorkflowRecord | undefined, done: string): void {
  if (workflow?.status !== "rolling_back") return;
  const message = `The workflow is being undone; it can be ${done} when that has ended`;
  throw new ActorError("workflow", "rolling_back", message);
}

/** The times of a run that goes on, and what its owners did; with `endedAt` (epoch ms), of one that ends then. */
export function runTimes(record: WorkflowRecord | undefined, endedAt?: number): RunTimes {
  const times = record && ownField(record, "times");
  const acts = record && ownField(record, "acts");
  return {
    ...(times && { times: endedAt === undefined ? [times[0]] : [times[0], Math.max(0, endedAt - times[0])] }),
    ...(acts && { acts }),
  };
}

/** Which run a line of the log is about: when it began, epoch ms. */
export function loggedRun({ workflow }: Pick<ActorRecord, "workflow">): { readonly run?: number } {
  const [run] = (workflow && ownField(workflow, "times")) ?? [];
  return run === undefined ? {} : { run };
}

function describeTimes(record: WorkflowRecord): Pick<WorkflowStatus, "startedAt" | "endedAt" | "acts"> {
  const [startedAt, ms] = ownField(record, "times") ?? [];
  const acts = ownField(record, "acts");
  return {
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(startedAt === undefined || ms === undefined ? {} : { endedAt: startedAt + ms }),
    ...(acts && { acts: acts.map(([at, act, by]) => ({ at, act, ...(by === undefined ? {} : { by }) })) }),
  };
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
  if (record.status === "cancelled") return cancelledStatus(record);
  const paused = pausedOf(record);
  if (paused) return { status: "paused", paused: describePause(paused) };
  const at = wakeAt();
  return { status: record.status, ...(at === undefined ? {} : { wakeAt: at }) };
}

function cancelledStatus(record: WorkflowRecord & { readonly status: "cancelled" }): WorkflowStatus {
  const rollbackErrors = ownField(record, "rollbackErrors");
  return { status: "cancelled", ...(rollbackErrors && { rollbackErrors }) };
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
