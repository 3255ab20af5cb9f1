import type { AttemptInfo } from "../../workflow/index.js";

/** The attempts that the workflow is making, and whether all its branches are in them. */
export class WorkflowBranches {
  readonly #openBranches: () => Iterable<string>;
  /** The number of the attempt at each location. */
  readonly #attempts = new Map<string, number>();

  /** `openBranches` returns the location of each open branch of the run. */
  constructor(openBranches: () => Iterable<string>) {
    this.#openBranches = openBranches;
  }

  began({ location, attempt }: AttemptInfo): void {
    this.#attempts.set(location, attempt);
  }

  ended({ location, attempt }: AttemptInfo): void {
    if (this.#attempts.get(location) === attempt) this.#attempts.delete(location);
  }

  /** Whether there is only one branch, which must then answer every message the workflow holds. */
  get isSingle(): boolean {
    return [...this.#openBranches()].length === 1;
  }

  /** Whether every branch is in one of these attempts, given by `attemptId`. */
  wait(attempts: ReadonlySet<string>): boolean {
    const branches = [...this.#openBranches()];
    return (
      branches.length > 0 &&
      branches.every((location) => attempts.has(attemptId({ location, attempt: this.#attempts.get(location) ?? 0 })))
    );
  }
}

/** An id of an attempt that is the same in every activation. */
export function attemptId({ location, attempt }: Pick<AttemptInfo, "location" | "attempt">): string {
  return `${location}#${attempt}`;
}
