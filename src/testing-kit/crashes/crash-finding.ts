import type { CrashMoment } from "./crash-moment.js";
import type { Difference } from "./world-outcome.js";

/** What was wrong after a moment. */
export interface Finding {
  readonly moment: CrashMoment;
  /** Steps that began more often than undisturbed, `"charge" of order ["o-1"]`, and how often. */
  readonly repeated: ReadonlyMap<string, number>;
  readonly difference: Difference | undefined;
  /** The actors that told the one with the difference something, undisturbed. */
  readonly callers: readonly string[];
  /** Whether the workload made a call again. */
  readonly isCalledAgain: boolean;
  /** Why a workflow's code did not match its history, if it did not. */
  readonly divergence: string | undefined;
  /** What `run` or `check` threw. */
  readonly thrown: { readonly by: "run" | "check"; readonly error: unknown } | undefined;
}

/** Thrown by `crashEverywhere` when a workload comes out otherwise because a process died or an actor left memory. */
export class CrashEverywhereError extends Error {
  override readonly name = "CrashEverywhereError";
  /** The actor, as `order ["o-1"]`, and which of its commits, or deletions, it was. */
  readonly actor: string;
  readonly commit: number;
  readonly write: CrashMoment["write"];
  readonly mishap: CrashMoment["mishap"];
  /** Steps that ran again because of it, with the name of their actor. */
  readonly repeatedSteps: readonly string[];

  constructor(finding: Finding) {
    super(sentenceOf(finding), finding.thrown && { cause: finding.thrown.error });
    const { moment, repeated } = finding;
    this.actor = moment.actor;
    this.commit = moment.commit;
    this.write = moment.write;
    this.mishap = moment.mishap;
    this.repeatedSteps = [...repeated.keys()];
  }
}

const GIVE_A_KEY =
  "What a step does outside of its actor happens again with it: give it a key that stays the same, made of ctx.key and the " +
  "step's name, by which the other side does it once";
const FIND_THE_FIRST = "let the second time find what the first has done";
const LOST_IN_MEMORY =
  "what an action or a hook had begun without awaiting it, or kept in memory alone, is gone: await it, or keep it in c.state; " +
  "of a variable that a step assigned, return the value from the step";

const TAKE_FROM_A_STEP =
  "What decides its course and may be another the second time, as the time, chance and variables do, must be given by a step";

function sentenceOf(finding: Finding): string {
  const { repeated, difference, thrown, moment, divergence } = finding;
  const when = whenOf(moment);
  const what = [
    ...(thrown ? [`${thrown.by} failed (${firstLine(thrown.error)})`] : []),
    ...(difference ? [difference.text] : []),
  ].join(", and ");
  if (divergence !== undefined) return `${what} ${when}: ${firstLine(divergence)}. ${TAKE_FROM_A_STEP}`;
  if (repeated.size > 0 && isByRepetition(finding)) {
    return `${ranAgain(repeated)} ${when}: ${what}. ${GIVE_A_KEY}`;
  }
  return `${what} ${when}: ${adviceOf(finding)}`;
}

/** Whether what came out wrong is of a step that ran again: it does not change the workflow's own course. */
function isByRepetition({ difference, moment }: Finding): boolean {
  return difference === undefined || difference.actor !== moment.actor;
}

function adviceOf({ difference, moment, repeated, callers, isCalledAgain }: Finding): string {
  if (difference === undefined) {
    if (moment.mishap !== "dies before") return LOST_IN_MEMORY;
    return isCalledAgain
      ? `what it did outside before it died is not undone, and it was called again: ${FIND_THE_FIRST}; or ${LOST_IN_MEMORY}`
      : `${LOST_IN_MEMORY}; or its alarm ran an action again, whose effects outside are not undone: ${FIND_THE_FIRST}`;
  }
  const { actor, kind } = difference;
  if (kind !== "other" && kind !== "more" && callers.length > 0) {
    const told = `what ${callers.join(" and ")} told it is lost, because nobody awaited the answer`;
    return `${told}: await the send or call, so that it fails and is made again`;
  }
  if (actor !== moment.actor)
    return `what it did before it died is not undone, and it did it once more: ${FIND_THE_FIRST}`;
  const others = [
    ...(repeated.size > 0 ? [`${ranAgain(repeated)} and came to something else`] : []),
    ...(kind === "waits" ? ["what an action or a hook had begun without awaiting it is gone"] : []),
  ];
  const which = others.length > 0 ? `${others.join(", or ")}, or the workflow` : "no step ran again, so the workflow";
  return `${which} had kept something in memory alone, such as a variable that a step assigned: return it from the step`;
}

function whenOf({ actor, write, commit, mishap }: CrashMoment): string {
  return mishap === "is evicted after"
    ? `when ${actor} left memory after its ${write} ${commit}`
    : `when the process of ${actor} ${mishap === "dies before" ? "died before" : "died after"} its ${write} ${commit}`;
}

function ranAgain(repeated: Finding["repeated"]): string {
  return [...repeated].map(([step, times]) => `step ${step} ran ${timesOf(times)}`).join(" and ");
}

function timesOf(times: number): string {
  return times === 2 ? "twice" : `${times} times`;
}

const MAX_SHOWN = 300;

function firstLine(error: unknown): string {
  const text = String(error instanceof Error ? error.message : error).split("\n", 1)[0] ?? "";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
