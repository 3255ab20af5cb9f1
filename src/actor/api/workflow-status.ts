import type { Entry } from "../../workflow/index.js";
import type { WorkflowRecord } from "../storage/record.js";

/** One entry of a workflow's history, decoded. Times in epoch ms. */
export interface WorkflowHistoryEntry {
  /** The entry's id, for `c.workflow.replayFrom(id)`. */
  readonly id: string;
  /**
   * The operation's place in the tree of names: `["shopping", 3, "add"]` is step `add` in iteration 3.
   */
  readonly location: readonly (string | number)[];
  /** The operation; `rollback` is the handler that undoes the step at this location. */
  readonly kind: Entry["kind"] | "rollback";
  /** The operation's status; `cancelled` if the workflow ended first. */
  readonly status: Entry["status"] | "cancelled";
  /** How many attempts have ended, with either result. */
  readonly attempts: number;
  /** How many attempts in a row a crash or a deploy cut off. */
  readonly interrupted: number;
  /** When the operation is due: the end of a sleep, the deadline of a receive, the next attempt of a step. */
  readonly dueAt?: number;
  /** The decoded result; for a receive, the messages it took. */
  readonly value?: unknown;
  /** Whether a receive's deadline passed first. */
  readonly timedOut?: boolean;
  readonly error?: WorkflowErrorView & { readonly kind: string };
}

/** A stored error. */
export interface WorkflowErrorView {
  readonly name: string;
  readonly message: string;
  readonly group?: string;
  readonly code?: string | number;
  readonly metadata?: unknown;
  readonly cause?: WorkflowErrorView;
  /** The errors of a join's or race's failed branches by name; the errors of an `AggregateError` by index. */
  readonly errors?: Readonly<Record<string, WorkflowErrorView>>;
}

/** How a workflow stands now. */
export interface WorkflowStatus {
  /** `diverged`: the code does not match the history; `none`: the actor has no workflow. */
  readonly status: WorkflowRecord["status"] | "diverged" | "none";
  /** What a completed workflow returned. */
  readonly output?: unknown;
  /** Why the workflow failed or diverged. */
  readonly error?: WorkflowErrorView;
  /** The errors of rollback handlers that failed. */
  readonly rollbackErrors?: readonly unknown[];
  /** The earliest deadline the workflow waits for, in epoch ms. */
  readonly wakeAt?: number;
}
