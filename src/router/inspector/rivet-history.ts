/** A workflow's history in the shape of RivetKit's inspector. It has no values: those are asked for one by one. */
import { own } from "../../protocol/index.js";

/** An entry as objects answer it. */
export interface HistoryItem {
  readonly id: string;
  readonly location: readonly (string | number)[];
  readonly kind: string;
  readonly status: string;
  readonly attempts: number;
  readonly dueAt?: number;
  readonly error?: { readonly message: string; readonly kind: string };
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly attemptStartedAt?: number;
  readonly iteration?: number;
  readonly branches?: readonly { readonly name: string; readonly status: string }[];
  readonly winner?: string;
  readonly messages?: readonly { readonly queue: string }[];
  readonly queues?: readonly string[];
  readonly version?: number;
  readonly removedKind?: string;
  readonly undoes?: string;
}

export type RivetSegment =
  | { readonly tag: "WorkflowNameIndex"; readonly val: number }
  | {
      readonly tag: "WorkflowLoopIterationMarker";
      readonly val: { readonly loop: number; readonly iteration: number };
    };

export interface RivetBranch {
  readonly status: BranchStatus;
  readonly output: null;
  readonly error: string | null;
}

/** What an operation was. Values are null: nobody asked for them. */
export type RivetKind =
  | { readonly tag: "WorkflowStepEntry"; readonly val: { readonly output: null; readonly error: string | null } }
  | {
      readonly tag: "WorkflowLoopEntry";
      readonly val: { readonly state: null; readonly iteration: number; readonly output: null };
    }
  | { readonly tag: "WorkflowSleepEntry"; readonly val: { readonly deadline: number; readonly state: SleepState } }
  | { readonly tag: "WorkflowMessageEntry"; readonly val: { readonly name: string; readonly messageData: null } }
  | { readonly tag: "WorkflowRollbackCheckpointEntry"; readonly val: { readonly name: string } }
  | { readonly tag: "WorkflowJoinEntry"; readonly val: { readonly branches: Readonly<Record<string, RivetBranch>> } }
  | {
      readonly tag: "WorkflowRaceEntry";
      readonly val: { readonly winner: string | null; readonly branches: Readonly<Record<string, RivetBranch>> };
    }
  | {
      readonly tag: "WorkflowRemovedEntry";
      readonly val: { readonly originalType: string; readonly originalName: string | null };
    }
  | {
      readonly tag: "WorkflowVersionCheckEntry";
      readonly val: { readonly resolved: number; readonly latest: number };
    };

export interface RivetMetadata {
  readonly status: EntryStatus;
  readonly error: string | null;
  readonly attempts: number;
  /** Epoch ms; 0 if an earlier release did not record it. */
  readonly lastAttemptAt: number;
  readonly createdAt: number;
  readonly completedAt: number | null;
  readonly rollbackCompletedAt: number | null;
  readonly rollbackError: string | null;
}

export interface RivetHistory {
  readonly nameRegistry: readonly string[];
  readonly entries: readonly {
    readonly id: string;
    readonly location: readonly RivetSegment[];
    readonly kind: RivetKind;
  }[];
  readonly entryMetadata: Readonly<Record<string, RivetMetadata>>;
}

/** In the order of their numbers on the wire. */
export const ENTRY_STATUSES = ["PENDING", "RUNNING", "COMPLETED", "FAILED", "EXHAUSTED"] as const;
export const SLEEP_STATES = ["PENDING", "COMPLETED", "INTERRUPTED"] as const;
export const BRANCH_STATUSES = ["PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED"] as const;
export const KINDS = [
  "WorkflowStepEntry",
  "WorkflowLoopEntry",
  "WorkflowSleepEntry",
  "WorkflowMessageEntry",
  "WorkflowRollbackCheckpointEntry",
  "WorkflowJoinEntry",
  "WorkflowRaceEntry",
  "WorkflowRemovedEntry",
  "WorkflowVersionCheckEntry",
] as const satisfies readonly RivetKind["tag"][];
type EntryStatus = (typeof ENTRY_STATUSES)[number];
type SleepState = (typeof SLEEP_STATES)[number];
type BranchStatus = (typeof BRANCH_STATUSES)[number];

/** Our statuses by RivetKit's names; null if there is no workflow. */
export function rivetState(status: string): string | null {
  if (status === "none") return null;
  if (status === "diverged") return "failed";
  return status === "paused" ? "sleeping" : status;
}

export function rivetHistory(items: readonly HistoryItem[]): RivetHistory {
  const names = new Map<string, number>();
  const indexOf = (name: string): number => {
    const index = names.get(name) ?? names.size;
    names.set(name, index);
    return index;
  };
  const metadata = new Map<string, RivetMetadata>();
  const entries = items.map(own).flatMap((item) => {
    const kind = kindOf(item);
    if (kind === undefined) return [];
    metadata.set(item.id, metadataOf(item));
    return [{ id: item.id, location: locationOf(item.location, indexOf), kind }];
  });
  for (const handler of items.map(own)) {
    const undone = handler.undoes === undefined ? undefined : metadata.get(handler.undoes);
    if (undone === undefined || handler.undoes === undefined) continue;
    const { endedAt, status, error } = handler;
    metadata.set(handler.undoes, {
      ...undone,
      rollbackCompletedAt: status === "completed" ? (endedAt ?? 0) : null,
      rollbackError: error?.message ?? null,
    });
  }
  return { nameRegistry: [...names.keys()], entries, entryMetadata: Object.fromEntries(metadata) };
}

/** A number follows the name of its loop. */
function locationOf(location: HistoryItem["location"], indexOf: (name: string) => number): RivetSegment[] {
  let loop = 0;
  return location.map((segment) => {
    if (typeof segment === "number")
      return { tag: "WorkflowLoopIterationMarker", val: { loop, iteration: segment } } as const;
    loop = indexOf(segment);
    return { tag: "WorkflowNameIndex", val: loop } as const;
  });
}

function nameOf({ location }: HistoryItem): string {
  return String(location.findLast((segment) => typeof segment === "string") ?? "");
}

/** Undefined for what RivetKit has no entries for: the handlers that undo. */
function kindOf(item: HistoryItem): RivetKind | undefined {
  const { kind, error, iteration = 0, dueAt = 0, winner = null, version = 0, removedKind = "step" } = item;
  switch (kind) {
    case "step":
      return { tag: "WorkflowStepEntry", val: { output: null, error: error?.message ?? null } };
    case "loop":
      return { tag: "WorkflowLoopEntry", val: { state: null, iteration, output: null } };
    case "sleep":
      return { tag: "WorkflowSleepEntry", val: { deadline: dueAt, state: sleepStateOf(item) } };
    case "message": {
      const [name = nameOf(item)] = item.messages?.map(({ queue }) => queue) ?? item.queues ?? [];
      return { tag: "WorkflowMessageEntry", val: { name, messageData: null } };
    }
    case "rollback_checkpoint":
      return { tag: "WorkflowRollbackCheckpointEntry", val: { name: nameOf(item) } };
    case "join":
      return { tag: "WorkflowJoinEntry", val: { branches: branchesOf(item) } };
    case "race":
      return { tag: "WorkflowRaceEntry", val: { winner, branches: branchesOf(item) } };
    case "removed":
      return { tag: "WorkflowRemovedEntry", val: { originalType: removedKind, originalName: nameOf(item) } };
    case "version_check":
      return { tag: "WorkflowVersionCheckEntry", val: { resolved: version, latest: version } };
    default:
      return undefined;
  }
}

function sleepStateOf({ status }: HistoryItem): SleepState {
  if (status === "completed") return "COMPLETED";
  return status === "pending" ? "PENDING" : "INTERRUPTED";
}

function branchesOf({ branches = [] }: HistoryItem): Readonly<Record<string, RivetBranch>> {
  const statuses: Readonly<Record<string, BranchStatus>> = {
    completed: "COMPLETED",
    failed: "FAILED",
    lost: "CANCELLED",
  };
  return Object.fromEntries(
    branches.map(({ name, status }) => [name, { status: statuses[status] ?? "PENDING", output: null, error: null }]),
  );
}

function metadataOf(item: HistoryItem): RivetMetadata {
  const { status, error, attempts, startedAt = 0, attemptStartedAt = startedAt, endedAt = null } = item;
  return {
    status: statusOf(status, error?.kind),
    error: error?.message ?? null,
    attempts,
    lastAttemptAt: attemptStartedAt,
    createdAt: startedAt,
    completedAt: status === "completed" ? endedAt : null,
    rollbackCompletedAt: null,
    rollbackError: null,
  };
}

/** What ended with its workflow stays pending there. */
function statusOf(status: string, failure: string | undefined): EntryStatus {
  if (status === "completed") return "COMPLETED";
  if (status === "failed") return failure === "exhausted" ? "EXHAUSTED" : "FAILED";
  return status === "running" ? "RUNNING" : "PENDING";
}
