/** The page's first line: how the actor stands, and what happens next. */
import type { InspectedEntry, InspectedSummary, WorkflowErrorView, WorkflowStatus } from "./answers.js";
import { clockTime, fromNow, lengthOf } from "./times.js";
import { nameOf } from "./tree.js";

/** Part of a sentence; a name stands out. */
export type Words = string | { readonly name: string };

/** What an operator may want to do first. */
export type FirstStep = "retry" | "resume" | "send";

export interface Headline {
  readonly tone: "idle" | "waiting" | "working" | "done" | "failed";
  /** One word for the badge. */
  readonly badge: string;
  readonly words: readonly Words[];
  readonly firstStep?: FirstStep;
}

const MAX_MESSAGE = 160;

/** `now`: the object's clock, epoch ms. */
export function headlineOf(summary: InspectedSummary, entries: readonly InspectedEntry[], now: number): Headline {
  const { workflow } = summary;
  const status: string = workflow.status;
  switch (status) {
    case "none":
      return {
        tone: "idle",
        badge: "no workflow",
        words: ["This actor has no workflow. Its state, queue and data are below."],
      };
    case "completed":
      return { tone: "done", badge: status, words: ["Completed", ...ended(workflow, now), ". Nothing is left to do."] };
    case "cancelled":
      return { tone: "idle", badge: status, words: ["Cancelled", ...ended(workflow, now), ". Nothing more happens."] };
    case "failed":
      return failed(workflow, entries, now);
    case "diverged":
      return {
        tone: "failed",
        badge: status,
        words: [
          "The code does not match what was recorded: ",
          messageOf(workflow.error),
          " It is tried again after a deploy; nothing is lost.",
        ],
        firstStep: "retry",
      };
    case "paused":
      return {
        tone: "waiting",
        badge: status,
        words: [
          "Paused",
          ...(workflow.paused ? [` ${fromNow(workflow.paused.since, now)}`] : []),
          ...(workflow.paused?.reason ? [": ", clipped(workflow.paused.reason), " "] : [". "]),
          "Nothing new begins until you resume.",
        ],
        firstStep: "resume",
      };
    case "rolling_back":
      return {
        tone: "working",
        badge: "undoing",
        words: ["Failed, and undoes what it did", ...whatItDoes(workflow, now), "."],
      };
    default:
      return running(workflow, now);
  }
}

function failed(workflow: WorkflowStatus, entries: readonly InspectedEntry[], now: number): Headline {
  const culprit = entries.findLast(({ status, kind }) => status === "failed" && kind === "step");
  const tries = culprit?.attempts ?? 0;
  return {
    tone: "failed",
    badge: "failed",
    words: [
      "Failed",
      ...(workflow.endedAt === undefined ? [] : [` ${fromNow(workflow.endedAt, now)}`]),
      ...(culprit ? [" in ", { name: nameOf(culprit.location) }] : []),
      ...(tries > 1 ? [` after ${tries} tries`] : []),
      ": ",
      messageOf(culprit?.error ?? workflow.error),
      " Nothing happens until you retry.",
    ],
    firstStep: "retry",
  };
}

function running(workflow: WorkflowStatus, now: number): Headline {
  const { parkedOn } = workflow;
  const activity = parkedOn?.activities[0];
  const others = (parkedOn?.count ?? 1) - 1;
  const more = others > 0 ? [others === 1 ? " One more branch is open." : ` ${others} more branches are open.`] : [];
  const since = activity?.since === undefined ? [] : [` since ${clockTime(activity.since)}`];
  const name: Words = { name: nameOf(activity?.location ?? []) };
  switch (activity?.kind) {
    case "sleep":
      return {
        tone: "waiting",
        badge: "sleeping",
        words: ["Sleeps in ", name, ` until ${clockTime(activity.until)}, ${fromNow(activity.until, now)}.`, ...more],
      };
    case "message":
      return {
        tone: "waiting",
        badge: "waiting",
        words: [
          "Waits for a message",
          ...(activity.queues?.length ? [" on ", { name: activity.queues.join(" or ") }] : []),
          ...since,
          activity.until === undefined ? "." : `, until ${clockTime(activity.until)}, ${fromNow(activity.until, now)}.`,
          ...more,
        ],
        firstStep: "send",
      };
    case "retry":
      return {
        tone: "waiting",
        badge: "retrying",
        words: [
          name,
          ` failed ${activity.attempt === 2 ? "once" : `${activity.attempt - 1} times`}: `,
          clipped(activity.error ?? "no message"),
          ` It is tried again ${fromNow(activity.at, now)}.`,
          ...more,
        ],
        firstStep: "resume",
      };
    case "running":
      return {
        tone: "working",
        badge: "running",
        words: [activity.isRollback ? "Undoes " : "Runs ", name, ...since, ...attempt(activity.attempt), ".", ...more],
      };
    default:
      return {
        tone: "working",
        badge: "running",
        words: ["The workflow runs. What it does now has not been stored yet."],
      };
  }
}

const attempt = (number: number): Words[] => (number > 1 ? [`, attempt ${number}`] : []);

function whatItDoes({ parkedOn }: WorkflowStatus, now: number): Words[] {
  const activity = parkedOn?.activities[0];
  if (activity?.kind === "retry")
    return [": ", { name: nameOf(activity.location ?? []) }, ` is tried again ${fromNow(activity.at, now)}`];
  return activity?.kind === "running" ? [": ", { name: nameOf(activity.location ?? []) }] : [];
}

function ended({ startedAt, endedAt }: WorkflowStatus, now: number): Words[] {
  if (endedAt === undefined) return [];
  return [
    ` ${fromNow(endedAt, now)}`,
    ...(startedAt === undefined ? [] : [`, after ${lengthOf(endedAt - startedAt)}`]),
  ];
}

function messageOf(error: WorkflowErrorView | undefined): string {
  return clipped(error?.message || error?.name || "no message");
}

function clipped(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length > MAX_MESSAGE) return `${line.slice(0, MAX_MESSAGE)}… `;
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
