import type { Entry } from "../../workflow/index.js";
import type { WorkflowRecord } from "../storage/record.js";

/** One line of history, decoded for people and tools. Times in epoch ms. */
export interface WorkflowHistoryEntry {
  readonly id: string;
  readonly location: readonly (string | number)[];
  /** `rollback`: the handler that undoes the step at this location. */
  readonly kind: Entry["kind"] | "rollback";
  /** `cancelled`: the workflow ended before it did. */
  readonly status: Entry["status"] | "cancelled";
  readonly attempts: number;
  readonly interrupted: number;
  readonly dueAt?: number;
  /** Decoded; of a receive the messages that it took. */
  readonly value?: unknown;
  /** A receive whose deadline came first. */
  readonly timedOut?: boolean;
  readonly error?: WorkflowErrorView & { readonly kind: string };
}

/** An error as it is stored. */
export interface WorkflowErrorView {
  readonly name: string;
  readonly message: string;
  readonly group?: string;
  readonly code?: string | number;
  readonly metadata?: unknown;
  readonly cause?: WorkflowErrorView;
  /** Of a join or race: the error of each branch that failed; of an AggregateError its errors, by number. */
  readonly errors?: Readonly<Record<string, WorkflowErrorView>>;
}

export interface WorkflowStatus {
  readonly status: WorkflowRecord["status"] | "diverged" | "none";
  readonly output?: unknown;
  readonly error?: WorkflowErrorView;
  readonly rollbackErrors?: readonly unknown[];
  /** Epoch ms of the earliest deadline it waits for. */
  readonly wakeAt?: number;
}
