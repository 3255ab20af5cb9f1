import type { StepAttempt } from "../../actor/index.js";
import type { Answer } from "./answer.js";

/** One run of a step's callback, or of what stood in its place. */
export interface StepCall {
  /** The actor's key as its parts. */
  readonly key: readonly string[];
  /** The step's place in its workflow: `["poll", 3, "charge"]` is step `charge` in iteration 3 of the loop `poll`. */
  readonly location: readonly (string | number)[];
  /** The number of the attempt, from 1; a run that a crash cut off is followed by another of the same number. */
  readonly attempt: number;
  /**
   * - `pending`: it has not settled
   * - `fulfilled`, `rejected`: as its promise did
   * - `aborted`: its time was over, its branch lost, or its workflow or activation ended, before it settled
   * - `lost`: its process died, or the actor left memory, before its result was stored
   */
  readonly outcome: "pending" | "fulfilled" | "rejected" | "aborted" | "lost";
  /** What it gave. */
  readonly result?: unknown;
  /** What it threw. */
  readonly error?: unknown;
}

/** The same as it is kept. */
export class AttemptCall {
  readonly of: Pick<StepAttempt, "name" | "key" | "location" | "step" | "attempt" | "isRollback">;
  /** What stood in the place of the callback, if anything did. */
  readonly answer: Answer | undefined;
  #outcome: StepCall["outcome"] = "pending";
  /** What it gave or threw. */
  #settled: { readonly result: unknown } | { readonly error: unknown } | undefined;

  constructor(
    { name, key, location, step, attempt, isRollback, abortSignal }: StepAttempt,
    answer: Answer | undefined,
  ) {
    this.of = { name, key, location, step, attempt, isRollback };
    this.answer = answer;
    abortSignal.addEventListener("abort", () => this.#end("aborted"), { once: true });
  }

  get isPending(): boolean {
    return this.#outcome === "pending";
  }

  get isLost(): boolean {
    return this.#outcome === "lost";
  }

  fulfilled(result: unknown): void {
    if (this.#end("fulfilled")) this.#settled = { result };
  }

  rejected(error: unknown): void {
    if (this.#end("rejected")) this.#settled = { error };
  }

  /** Its process has ended before its result was stored. */
  lose(): void {
    if (this.#outcome === "aborted") return;
    this.#outcome = "lost";
    this.#settled = undefined;
  }

  view(): StepCall {
    const { key, step, attempt } = this.of;
    return { key: [...key], location: [...step], attempt, outcome: this.#outcome, ...this.#settled };
  }

  #end(outcome: StepCall["outcome"]): boolean {
    if (this.#outcome !== "pending") return false;
    this.#outcome = outcome;
    return true;
  }
}
