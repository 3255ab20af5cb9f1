/** The workflow's history for people and tools: decoded, and with waits that are over not shown as pending. */
import { decodeValue } from "../../protocol/index.js";
import {
  branchValues,
  isOfRollback,
  isTerminal,
  takenMessages,
  type Entry,
  type History,
  type Location,
} from "../../workflow/index.js";
import type { StepAttempt } from "../ports.js";
import { describeFailure } from "../activation/workflow-outcome.js";
import type { WorkflowHistoryEntry } from "../api/workflow-status.js";

/** What the view needs to know beyond the entries. */
export interface HistoryView {
  readonly history: History;
  /** Whether the workflow has ended, so that nothing is waiting. */
  readonly isOver: boolean;
  /** True for a wait that has ended in memory but is not yet marked by a commit. */
  hasEnded(entry: Entry): boolean;
}

/** All entries, in the order in which their operations began. */
export function describeHistory(view: HistoryView): WorkflowHistoryEntry[] {
  const entries = [...view.history.entries()].sort((a, b) => a.seq - b.seq);
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  // The results of branches are shown with their join.
  return entries.filter((entry) => entry.kind !== "branch_results").map((entry) => describeEntry(entry, view, bySeq));
}

/** The step of an attempt with its entry at this location, and whether the attempt undoes that step. */
export function stepOf(location: Location, history: History): Pick<StepAttempt, "step" | "isRollback"> {
  const [first, seq] = location;
  if (typeof first !== "number") return { step: location, isRollback: false };
  for (const entry of history.entries())
    if (entry.seq === Number(seq)) return { step: entry.location, isRollback: true };
  return { step: location, isRollback: true };
}

function describeEntry(entry: Entry, view: HistoryView, bySeq: ReadonlyMap<number, Entry>): WorkflowHistoryEntry {
  const status = statusOf(entry, view);
  const value = valueOf(entry, view.history);
  const hasTimedOut = entry.kind === "message" && status === "completed" && entry.value === undefined;
  return {
    id: String(entry.seq),
    ...(isOfRollback(entry)
      ? { kind: "rollback", location: bySeq.get(Number(entry.location[1]))?.location ?? entry.location }
      : { kind: entry.kind, location: entry.location }),
    status,
    attempts: entry.attempts,
    interrupted: entry.interrupted,
    ...(entry.dueAt === undefined || status !== "pending" ? {} : { dueAt: entry.dueAt }),
    ...(value === undefined ? {} : { value }),
    ...(hasTimedOut ? { timedOut: true } : {}),
    ...(entry.failure ? { error: { kind: entry.failure.kind, ...describeFailure(entry.failure) } } : {}),
  };
}

function statusOf(entry: Entry, { history, isOver, hasEnded }: HistoryView): WorkflowHistoryEntry["status"] {
  if (isTerminal(entry)) return entry.status;
  // The end of a wait is not written: later entries show that it has ended.
  const isWait = entry.kind === "sleep" || entry.kind === "message";
  if (isWait && (hasEnded(entry) || history.isPassed(entry))) return "completed";
  return isOver ? "cancelled" : entry.status;
}

function valueOf(entry: Entry, history: History): unknown {
  if (entry.kind === "join" && entry.status === "completed" && entry.value === undefined)
    return branchValues(history, entry);
  if (entry.value === undefined) return undefined;
  if (entry.kind !== "message") return decodeValue(entry.value);
  return takenMessages(entry).map(({ id, name, body, createdAt }) => ({
    id,
    name,
    body: decodeValue(body),
    createdAt,
  }));
}
