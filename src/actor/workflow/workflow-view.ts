/** The workflow's history for people and tools: decoded, and with waits that are over not shown as pending. */
import { decodeValue, own, ownField, readOptions } from "../../protocol/index.js";
import {
  branchStates,
  branchValues,
  isOfRollback,
  isTerminal,
  keptWinner,
  losersOf,
  takenMessages,
  type Entry,
  type History,
  type Location,
  type WaitData,
} from "../../workflow/index.js";
import type { StepAttempt } from "../ports.js";
import { describeFailure } from "../activation/workflow-outcome.js";
import type { WorkflowBranchView, WorkflowHistoryEntry, WorkflowHistoryOptions } from "../api/workflow-status.js";

/** What the view needs to know beyond the entries. */
export interface HistoryView {
  readonly history: History;
  /** Whether the workflow has ended, so that nothing is waiting. */
  readonly isOver: boolean;
  /** True for a wait that has ended in memory but is not yet marked by a commit. */
  hasEnded(entry: Entry): boolean;
}

/** Branches of a join or race, and messages of a receive, that are shown. */
const MAX_SHOWN = 100;

/**
 * Entries in the order in which their operations began; of the others nothing is decoded.
 * @throws {TypeError} when an option is not valid
 */
export function describeHistory(view: HistoryView, given?: WorkflowHistoryOptions): WorkflowHistoryEntry[] {
  const { from, limit, values } = pageOf(given);
  // The results of branches are shown with their join.
  const all = [...view.history.entries()];
  const page = all
    .filter(({ kind, seq }) => kind !== "branch_results" && seq >= from)
    .sort((a, b) => a.seq - b.seq)
    .slice(0, limit);
  const bySeq = page.some(isOfRollback) ? new Map(all.map((entry) => [entry.seq, entry])) : undefined;
  return page.map((entry) => describeEntry(entry, view, values, bySeq));
}

function pageOf(given: WorkflowHistoryOptions | undefined): { from: number; limit?: number; values: boolean } {
  const refuse = (problem: string): TypeError => new TypeError(problem);
  const { from, limit, values = true } = readOptions("history", given, ["from", "limit", "values"], refuse);
  if (from !== undefined && (typeof from !== "string" || !/^\d{1,16}$/.test(from)))
    throw refuse("`from` must be the id of an entry");
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1))
    throw refuse("`limit` must be an integer of at least 1");
  if (typeof values !== "boolean") throw refuse("`values` must be true or false");
  return own({ from: from === undefined ? 0 : Number(from), values, ...(limit === undefined ? {} : { limit }) });
}

/** The step of an attempt with its entry at this location, and whether the attempt undoes that step. */
export function stepOf(location: Location, history: History): Pick<StepAttempt, "step" | "isRollback"> {
  const [first, seq] = location;
  if (typeof first !== "number") return { step: location, isRollback: false };
  for (const entry of history.entries())
    if (entry.seq === Number(seq)) return { step: entry.location, isRollback: true };
  return { step: location, isRollback: true };
}

function describeEntry(
  entry: Entry,
  view: HistoryView,
  withValue: boolean,
  bySeq: ReadonlyMap<number, Entry> | undefined,
): WorkflowHistoryEntry {
  const status = statusOf(entry, view);
  const value = withValue ? valueOf(entry, view.history) : undefined;
  const hasTimedOut = entry.kind === "message" && status === "completed" && entry.value === undefined;
  return {
    id: String(entry.seq),
    ...(isOfRollback(entry)
      ? { kind: "rollback", location: bySeq?.get(Number(entry.location[1]))?.location ?? entry.location }
      : { kind: entry.kind, location: entry.location }),
    status,
    attempts: entry.attempts,
    interrupted: entry.interrupted,
    ...(entry.dueAt === undefined || status !== "pending" ? {} : { dueAt: entry.dueAt }),
    ...(value === undefined ? {} : { value }),
    ...(hasTimedOut ? { timedOut: true } : {}),
    ...(entry.failure ? { error: { kind: entry.failure.kind, ...describeFailure(entry.failure) } } : {}),
    ...timesOf(entry, status),
    ...describeKind(entry, view.history),
  };
}

function timesOf(entry: Entry, status: WorkflowHistoryEntry["status"]): Partial<WorkflowHistoryEntry> {
  const { kind, startedAt, ms, failedAttempts } = entry;
  // The end of a wait is not written when a later entry shows it: it ended at its deadline.
  const end = startedAt !== undefined && ms !== undefined ? startedAt + ms : entry.dueAt;
  const attemptStartedAt = entry.attemptStartedAt ?? startedAt;
  return {
    ...(startedAt === undefined ? {} : { startedAt }),
    ...((status === "completed" || status === "failed") && startedAt !== undefined && end !== undefined
      ? { endedAt: Math.max(startedAt, end) }
      : {}),
    ...(kind !== "step" || attemptStartedAt === undefined ? {} : { attemptStartedAt }),
    ...(failedAttempts === undefined ? {} : { failedAttempts }),
    ...(entry.skipped ? { skipped: true } : {}),
  };
}

/** What entries of some kinds tell besides. */
function describeKind(entry: Entry, history: History): Partial<WorkflowHistoryEntry> {
  if (isOfRollback(entry)) return { undoes: String(entry.location[1]) };
  const data = own(entry.data as KindData | undefined);
  switch (entry.kind) {
    case "loop":
      return data.iteration === undefined ? {} : { iteration: data.iteration };
    case "version_check":
      return data.version === undefined ? {} : { version: data.version };
    case "removed":
      return data.kind === undefined ? {} : { removedKind: data.kind };
    case "message":
      return describeReceive(entry, data);
    case "join":
    case "race":
      return describeBranches(entry, history);
    default:
      return {};
  }
}

/** The data of some kinds of entries. */
interface KindData extends Partial<WaitData> {
  readonly iteration?: number;
  readonly version?: number;
  readonly kind?: string;
}

function describeReceive(entry: Entry, { names }: KindData): Partial<WorkflowHistoryEntry> {
  const taken = takenMessages(entry).slice(0, MAX_SHOWN);
  if (taken.length > 0) return { messages: taken.map(({ id, name }) => ({ id, queue: name })) };
  return names === undefined ? {} : { queues: names };
}

function describeBranches(entry: Entry, history: History): Partial<WorkflowHistoryEntry> {
  const { branches: names } = entry.data as { readonly branches: readonly string[] };
  const winner = winnerOf(entry);
  const losers = entry.kind === "race" ? losersOf(entry) : [];
  const doing = new Map(losers.map(([place, ...rest]) => [names[place], rest] as const));
  const branches = branchStates(history, entry, MAX_SHOWN).map(({ name, status }): WorkflowBranchView => {
    if (name === winner) return { name, status: isTerminal(entry) ? "completed" : status };
    const [what, operation, since] = doing.get(name) ?? [];
    if (what === "failed") return { name, status: "failed" };
    if (winner === undefined && what === undefined) return { name, status };
    return {
      name,
      status: "lost",
      ...(what === undefined ? {} : { doing: what }),
      ...(operation === undefined ? {} : { operation }),
      ...(since === undefined ? {} : { since }),
    };
  });
  return { branches, branchCount: names.length, ...(winner === undefined ? {} : { winner }) };
}

function winnerOf(entry: Entry): string | undefined {
  if (entry.kind !== "race") return undefined;
  const known = keptWinner(entry);
  // Earlier releases stored it only with the value, which may be large.
  if (known !== undefined || !entry.value) return known;
  return ownField(decodeValue(entry.value) as { readonly winner: string }, "winner");
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
