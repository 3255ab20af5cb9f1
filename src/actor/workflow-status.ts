import type { Entry } from "../workflow/index.js";
import type { WorkflowRecord } from "./record.js";

/** One line of history, decoded for people and tools. Times in epoch ms. */
export interface WorkflowHistoryEntry {
  readonly id: string;
  readonly location: readonly (string | number)[];
  readonly kind: Entry["kind"];
  readonly status: Entry["status"];
  readonly attempts: number;
  readonly interrupted: number;
  readonly dueAt?: number;
  readonly value?: unknown;
  readonly error?: { readonly kind: string; readonly name: string; readonly message: string };
}

export interface WorkflowStatus {
  readonly status: WorkflowRecord["status"] | "diverged" | "none";
  readonly output?: unknown;
  readonly error?: { readonly name: string; readonly message: string; readonly metadata?: unknown };
  readonly rollbackErrors?: readonly unknown[];
  /** Epoch ms of the earliest deadline it waits for. */
  readonly wakeAt?: number;
}
