import type { InspectedEntry } from "./answers.js";

/** A stretch of an entry's time. `attempt` is 1-based. */
export interface Segment {
  readonly kind: "done" | "failed" | "running" | "wait" | "span" | "lost";
  readonly from: number;
  readonly to: number;
  readonly attempt?: number;
}

/** What an entry did when, in order. Empty if an earlier release recorded it, without times. */
export function segmentsOf(entry: InspectedEntry, now: number): Segment[] {
  const { startedAt, kind } = entry;
  if (startedAt === undefined) return [];
  const end = Math.max(startedAt, entry.endedAt ?? endWithout(entry, now));
  if (kind === "step" || kind === "rollback") return attemptsOf(entry, startedAt, end);
  if (kind === "sleep" || kind === "message") return [{ kind: "wait", from: startedAt, to: end }];
  return [{ kind: entry.status === "failed" ? "failed" : "span", from: startedAt, to: end }];
}

/** Where what has no end is drawn to: now, or nowhere if the workflow ended first. */
function endWithout({ status, startedAt }: InspectedEntry, now: number): number {
  return status === "cancelled" ? (startedAt ?? now) : now;
}

/** When the first attempt began: what was between the entry's start and that is no wait. */
function beginOf(
  { failedAttempts = [], attemptStartedAt, attempts, interrupted }: InspectedEntry,
  startedAt: number,
): number {
  const [first] = failedAttempts;
  if (interrupted > 0) return startedAt;
  if (first) return first.attempt === 1 ? first.startedAt : startedAt;
  return attempts <= 1 ? (attemptStartedAt ?? startedAt) : startedAt;
}

function attemptsOf(entry: InspectedEntry, startedAt: number, end: number): Segment[] {
  const segments: Segment[] = [];
  const { failedAttempts = [], status, attemptStartedAt = startedAt, attempts } = entry;
  let at = beginOf(entry, startedAt);
  const waitUntil = (time: number): void => {
    if (time > at) segments.push({ kind: "wait", from: at, to: time });
    at = Math.max(at, time);
  };
  for (const { attempt, startedAt: began, ms } of failedAttempts) {
    // Of many attempts only the last are known: what was before is a wait.
    waitUntil(began);
    segments.push({ kind: "failed", from: at, to: Math.max(at, began + ms), attempt });
    at = Math.max(at, began + ms);
  }
  if (status === "completed") {
    waitUntil(attemptStartedAt);
    segments.push({ kind: "done", from: at, to: Math.max(at, end), attempt: Math.max(1, attempts) });
  } else if (status === "failed") {
    if (failedAttempts.length === 0)
      segments.push({ kind: "failed", from: at, to: end, attempt: Math.max(1, attempts) });
  } else if (status === "cancelled") {
    segments.push({ kind: "lost", from: at, to: Math.max(at, end) });
  } else if (entry.dueAt !== undefined || (failedAttempts.length > 0 && attemptStartedAt < at)) {
    waitUntil(end);
  } else {
    waitUntil(attemptStartedAt);
    segments.push({ kind: "running", from: at, to: Math.max(at, end), attempt: attempts + 1 });
  }
  return segments;
}
