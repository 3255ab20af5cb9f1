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
  /** When the operation began, in epoch ms; absent if an earlier release recorded it. */
  readonly startedAt?: number;
  /** When it ended, in epoch ms; a wait whose deadline passed ended at its deadline. */
  readonly endedAt?: number;
  /** Of a step: when its last attempt began, in epoch ms. */
  readonly attemptStartedAt?: number;
  /** Of a step: its last five failed attempts, the oldest first. */
  readonly failedAttempts?: readonly WorkflowFailedAttempt[];
  /** Of a step: its value was given to `skip`. */
  readonly skipped?: true;
  /** Of a loop: the iteration it is in, or ended in; the first is 0. */
  readonly iteration?: number;
  /** Of a join or race: its branches, at most 100. */
  readonly branches?: readonly WorkflowBranchView[];
  /** Of a join or race: how many branches it has. */
  readonly branchCount?: number;
  /** Of a race: the branch that won. */
  readonly winner?: string;
  /** Of a receive: the messages it took, at most 100. */
  readonly messages?: readonly { readonly id: number; readonly queue: string }[];
  /** Of a receive that waits: its queues; absent if it takes from any. */
  readonly queues?: readonly string[];
  /** Of a version gate: its answer. */
  readonly version?: number;
  /** Of a `removed`: the kind of the operation that was there. */
  readonly removedKind?: string;
  /** Of a `rollback`: the `id` of the step that it undoes. */
  readonly undoes?: string;
}

/** An attempt of a step that failed. */
export interface WorkflowFailedAttempt {
  /** 1-based. */
  readonly attempt: number;
  /** Epoch ms. */
  readonly startedAt: number;
  /** How long it took, in ms. */
  readonly ms: number;
  readonly name: string;
  /** At most 300 characters. */
  readonly message: string;
}

/** A branch of a join or race. */
export interface WorkflowBranchView {
  readonly name: string;
  /** `lost`: another branch won the race; known of 16 losers. */
  readonly status: "pending" | "completed" | "failed" | "lost";
  /** What it was doing when it lost: the kind of its operation in flight, or `code`. */
  readonly doing?: string;
  /** That operation's name. */
  readonly operation?: string;
  /** When that operation began, in epoch ms. */
  readonly since?: number;
}

/** Which entries `c.workflow.history()` returns. */
export interface WorkflowHistoryOptions {
  /** The `id` of the first entry to return. If there is none of this id, the next one is first. */
  readonly from?: string;
  /** The most entries to return; default: all. */
  readonly limit?: number;
  /** Whether entries have their values; default true. Without, values are not even decoded. */
  readonly values?: boolean;
}

/** Options of what owners do to a workflow. */
export interface WorkflowActOptions {
  /** Who does it, at most 200 characters; shown in `status().acts`. */
  readonly by?: string;
}

/** Asks what an act would do, which is then not done. */
export interface WorkflowDryRun {
  readonly dryRun: true;
}

/** How `c.workflow.cancel()` ends a workflow. */
export interface WorkflowCancelOptions extends WorkflowActOptions {
  /** Whether completed steps are undone first, as after a failure; default false. */
  readonly rollback?: boolean;
}

/** What an act would do to the history: the `id` of each entry is in one of the lists. */
export interface WorkflowPlan {
  /** The same in words. */
  readonly sentence: string;
  /** Entries that would go; code that reaches their operations runs them anew. */
  readonly deleted: readonly string[];
  /** Entries that would start over in their place. */
  readonly again: readonly string[];
  /** Entries that would stay as they are, or be completed by a given value. */
  readonly kept: readonly string[];
  /** The ids of messages that would return to their queues. */
  readonly messages: readonly number[];
}

/** What a workflow waits for, or does now. */
export interface WorkflowParkedOn {
  /** The first activity in words: `sleep until …`, `message on payments`, `running charge since …`. */
  readonly sentence: string;
  /** What its branches do: work first, then waits in the order of their deadlines; at most 16. */
  readonly activities: readonly WorkflowActivity[];
  /** How many branches there are. */
  readonly count: number;
}

/** What a workflow, or one of its branches, waits for or does. Times in epoch ms. */
export type WorkflowActivity = {
  /** The operation's place; that of a step for the handler that undoes it, that of the scope for `code`. */
  readonly location?: readonly (string | number)[];
  /** When it began. */
  readonly since?: number;
} & (
  | { readonly kind: "sleep"; readonly until: number }
  /** `queues` is absent if it takes from any, or if that is not known while the workflow is not in memory. */
  | { readonly kind: "message"; readonly queues?: readonly string[]; readonly until?: number }
  /** `attempt` is the one that comes next. */
  | {
      readonly kind: "retry";
      readonly attempt: number;
      readonly at: number;
      readonly error?: string;
      readonly isRollback?: true;
    }
  | { readonly kind: "running"; readonly attempt: number; readonly isRollback?: true }
  /** Code between operations, or something that it awaits outside the engine. */
  | { readonly kind: "code" }
);

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
  readonly status: WorkflowRecord["status"] | "paused" | "diverged" | "none";
  /** Of a paused workflow: since when, in epoch ms, and the reason given to `pause`. */
  readonly paused?: { readonly since: number; readonly reason?: string };
  /** What a completed workflow returned. */
  readonly output?: unknown;
  /** Why the workflow failed or diverged. */
  readonly error?: WorkflowErrorView;
  /** The errors of rollback handlers that failed. */
  readonly rollbackErrors?: readonly unknown[];
  /** The earliest deadline the workflow waits for, in epoch ms. */
  readonly wakeAt?: number;
  /** When the workflow began, in epoch ms. Absent if an earlier release began it. */
  readonly startedAt?: number;
  /** When it ended, in epoch ms. */
  readonly endedAt?: number;
  /** What owners last did to it, at most twenty acts, the oldest first; times in epoch ms. */
  readonly acts?: readonly { readonly at: number; readonly act: string; readonly by?: string }[];
  /** What it waits for, or does now. Absent when it has ended or diverged. */
  readonly parkedOn?: WorkflowParkedOn;
}
