/** What a workflow waits for or does now: one function for its status and for pages that show it. */
import { own } from "../../protocol/index.js";
import {
  isOfRollback,
  nameAt,
  type Entry,
  type History,
  type OpenBranch,
  type WaitData,
} from "../../workflow/index.js";
import type { WorkflowActivity, WorkflowParkedOn } from "../api/workflow-status.js";
import type { PausedRecord } from "../storage/record.js";
import { stepOf } from "./workflow-view.js";

/** What is known of a workflow that has not ended. */
export interface WorkflowPosition {
  readonly history: History;
  /** The branches of the run in memory. Undefined if there is none: then the stored waits tell. */
  readonly branches: Iterable<OpenBranch> | undefined;
  /** Whether work is due or was cut off, so that a run is about to begin. */
  readonly isWorking: boolean;
  /** If it is paused: what it would wait for is no reason that it stands. */
  readonly paused: PausedRecord | undefined;
}

/** Activities that are listed. */
const MAX_ACTIVITIES = 16;
const MAX_TEXT = 200;

/** `now`: epoch ms. Undefined while a run is about to begin. */
export function parkedOn(position: WorkflowPosition, now: number): WorkflowParkedOn | undefined {
  const activities = position.branches ? inMemory(position.branches, position.history) : stored(position);
  const first = activities.sort((a, b) => dueAt(a) - dueAt(b))[0];
  if (position.paused) return whilePaused(position.paused, activities, now);
  if (!first) return undefined;
  const more = activities.length - 1;
  const sentence = sentenceOf(own(first), now);
  return {
    sentence: more > 0 ? `${sentence}, and ${more} more` : sentence,
    activities: activities.slice(0, MAX_ACTIVITIES),
    count: activities.length,
  };
}

function whilePaused(
  [since, reason]: PausedRecord,
  activities: readonly WorkflowActivity[],
  now: number,
): WorkflowParkedOn {
  const why = reason === undefined ? "" : `: ${clipped(reason)}`;
  const running = activities.filter(({ kind }) => kind === "running").map((each) => sentenceOf(own(each), now));
  return {
    sentence: [`paused since ${timeOf(since)}${why}`, ...running.slice(0, 1)].join(", still "),
    activities: activities.slice(0, MAX_ACTIVITIES),
    count: activities.length,
  };
}

function inMemory(branches: Iterable<OpenBranch>, history: History): WorkflowActivity[] {
  return Array.from(branches, ({ location, operation }): WorkflowActivity => {
    const entry = operation?.entry ?? history.find(location);
    if (!operation || !entry) return { kind: "code", location };
    if (operation.isWaiting) return waitOf(entry, history);
    return operation.kind === "step" ? attemptOf(entry, history) : { kind: "code", location };
  });
}

/** The waits that have rows. A receive without a deadline has none: what has no other wait waits for a message. */
function stored({ history, isWorking, paused }: WorkflowPosition): WorkflowActivity[] {
  const waits = Array.from(history.waiting(), (entry) => waitOf(entry, history));
  return waits.length > 0 || isWorking || paused ? waits : [{ kind: "message" }];
}

function waitOf(entry: Entry, history: History): WorkflowActivity {
  const { kind, location, startedAt, dueAt: until, failure } = entry;
  const since = startedAt === undefined ? {} : { since: startedAt };
  if (kind === "sleep") return { kind, location, ...since, until: until ?? 0 };
  if (kind === "message") {
    const { names } = own(entry.data as WaitData | undefined);
    return { kind, location, ...since, ...(names && { queues: names }), ...(until === undefined ? {} : { until }) };
  }
  return {
    kind: "retry",
    ...placeOf(entry, history),
    attempt: entry.attempts + 1,
    at: until ?? 0,
    ...(failure && { error: clipped(failure.error.message) }),
  };
}

function attemptOf(entry: Entry, history: History): WorkflowActivity {
  const since = entry.attemptStartedAt ?? entry.startedAt;
  return {
    kind: "running",
    ...placeOf(entry, history),
    ...(since === undefined ? {} : { since }),
    attempt: entry.attempts + 1,
  };
}

function placeOf(entry: Entry, history: History): { location: Entry["location"]; isRollback?: true; since?: number } {
  const since = entry.startedAt === undefined ? {} : { since: entry.startedAt };
  if (!isOfRollback(entry)) return { location: entry.location, ...since };
  return { location: stepOf(entry.location, history).step, isRollback: true, ...since };
}

/** Where an activity stands among others, epoch ms: what works comes first, what has no deadline last. */
function dueAt(activity: WorkflowActivity): number {
  if (activity.kind === "running" || activity.kind === "code") return -Number.MAX_VALUE;
  if (activity.kind === "retry") return activity.at;
  // A difference of infinities is no number.
  return own(activity).until ?? Number.MAX_VALUE;
}

function sentenceOf(activity: WorkflowActivity, now: number): string {
  const name = activity.location ? clipped(nameAt(activity.location)) : "";
  switch (activity.kind) {
    case "sleep":
      return `sleep until ${timeOf(activity.until)}`;
    case "message": {
      const on = activity.queues ? ` on ${clipped(activity.queues.join(" or "))}` : "";
      return `message${on}${activity.until === undefined ? "" : ` until ${timeOf(activity.until)}`}`;
    }
    case "retry":
      return `${activity.isRollback ? "undoing, " : ""}retry ${activity.attempt - 1} of ${name} ${fromNow(activity.at - now)}`;
    case "running":
      return `${activity.isRollback ? "undoing" : "running"} ${name}${sinceOf(activity)}`;
    case "code":
      return name === "" ? "code between operations" : `code in ${name}`;
  }
}

function sinceOf({ since }: WorkflowActivity): string {
  return since === undefined ? "" : ` since ${timeOf(since)}`;
}

function timeOf(time: number): string {
  return new Date(time).toISOString();
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

function fromNow(ms: number): string {
  if (ms <= 0) return "now";
  const [unit, length] = UNITS.find((each) => ms >= 2 * each[1]) ?? (["s", 1_000] as const);
  return `in ${Math.ceil(ms / length)} ${unit}`;
}

function clipped(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
