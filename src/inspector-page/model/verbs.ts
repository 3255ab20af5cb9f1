/** What an operator may do to a workflow, and what that means, in words. */
import type { InspectedEntry } from "./answers.js";
import { nameOf } from "./tree.js";

export type VerbName = "recover" | "replay" | "pause" | "resume" | "cancel";

export interface Verb {
  readonly name: VerbName;
  readonly label: string;
  /** What happens, before one confirms it. */
  readonly means: string;
  /** Why it cannot be done now; undefined if it can. */
  readonly refusal?: string;
  /** Whether it cannot be taken back. */
  readonly isDangerous?: true;
}

/** `selected`: the entry from which a replay would begin; without one, from the start. */
export function verbsFor(status: string, selected: InspectedEntry | undefined): Verb[] {
  const hasFailed = status === "failed" || status === "diverged";
  const hasEnded = hasFailed || status === "completed" || status === "cancelled";
  return [
    {
      name: "recover",
      label: "Retry",
      means:
        status === "diverged"
          ? "Compares the code with the history again, now. Nothing that is recorded changes."
          : "What failed runs again, and so does what was undone. Steps that completed keep their results.",
      ...(hasFailed ? {} : { refusal: `It is for a workflow that failed or diverged; this one is ${words(status)}.` }),
    },
    replay(status, selected),
    {
      name: "pause",
      label: "Pause",
      means:
        "Attempts that have begun end and are recorded; nothing new begins until you resume. Deadlines keep their times.",
      ...(status === "running" ? {} : { refusal: `It is for a workflow that runs; this one is ${words(status)}.` }),
    },
    {
      name: "resume",
      label: "Resume",
      means:
        status === "paused"
          ? "It goes on where it stood. What came due meanwhile happens now."
          : "A step that waits for its next attempt makes it now.",
      ...(status === "paused" || status === "running"
        ? {}
        : { refusal: `It is for a workflow that is paused, or waits for a retry; this one is ${words(status)}.` }),
    },
    {
      name: "cancel",
      label: "Cancel",
      means:
        "The workflow ends as cancelled. What it did stays done: nothing is undone. It does not run again by itself.",
      isDangerous: true,
      ...(hasEnded && status !== "diverged" ? { refusal: `It has ended already: ${words(status)}.` } : {}),
    },
  ];
}

function replay(status: string, selected: InspectedEntry | undefined): Verb {
  const isStep = selected?.kind === "step";
  const from = isStep ? `${nameOf(selected.location)} (entry ${selected.id})` : "its start";
  return {
    name: "replay",
    label: isStep ? "Replay from here" : "Replay from the start",
    means:
      `Deletes what was recorded from ${from} on, and runs it again. Messages taken behind that are put back. ` +
      "What steps did outside (payments, mail) happens again.",
    isDangerous: true,
    ...(status === "none" ? { refusal: "The actor has no workflow." } : {}),
  };
}

function words(status: string): string {
  return status === "rolling_back" ? "undoing" : status;
}
