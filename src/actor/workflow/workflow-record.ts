import { own } from "../../protocol/index.js";
import { fitFailure, toBranchFailure, type Failure, type Outcome } from "../../workflow/index.js";
import type { WorkflowRecord } from "../storage/record.js";

/** Encoded bytes of the failure in the actor's record, which also holds the errors of rollback handlers. */
const MAX_FAILURE_BYTES = 1_000_000;

/** A failure, reduced to what the record can hold. */
export function recordFailure(error: unknown): Failure {
  return fitFailure(toBranchFailure(error), MAX_FAILURE_BYTES);
}

export function recordOf(known: Outcome): WorkflowRecord {
  const outcome = own(known);
  switch (outcome.status) {
    case "completed":
      return { status: "completed", value: outcome.value };
    case "failed":
      return {
        status: "failed",
        failure: recordFailure(outcome.error),
        ...failedRollbacks(outcome),
      };
    case "cancelled":
      return { status: "cancelled", ...failedRollbacks(outcome) };
  }
}

function failedRollbacks({ rollbackErrors = [] }: { readonly rollbackErrors?: readonly unknown[] }): {
  readonly rollbackErrors?: readonly unknown[];
} {
  return rollbackErrors.length > 0 ? { rollbackErrors } : {};
}
