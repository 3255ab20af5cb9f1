import type { AttemptInfo } from "../../workflow/index.js";

/** The attempts that a workflow makes now, and whether all of it waits in them. */
export class WorkflowBranches {
  readonly #openBranches: () => Iterable<string>;
  /** The attempt at each location. */
  readonly #attempts = new Map<string, number>();

  /** `openBranches` gives where each branch of the run is. */
  constructor(openBranches: () => Iterable<string>) {
    this.#openBranches = openBranches;
  }

  began({ location, attempt }: AttemptInfo): void {
    this.#attempts.set(location, attempt);
  }

  ended({ location, attempt }: AttemptInfo): void {
    if (this.#attempts.get(location) === attempt) this.#attempts.delete(location);
  }

  /** True if there is one branch alone: whatever the workflow holds, that one has to answer. */
  get isSingle(): boolean {
    return [...this.#openBranches()].length === 1;
  }

  /** True if each branch is in an attempt of these, named by `attemptId`. */
  wait(attempts: ReadonlySet<string>): boolean {
    const branches = [...this.#openBranches()];
    return (
      branches.length > 0 &&
      branches.every((location) => attempts.has(attemptId({ location, attempt: this.#attempts.get(location) ?? 0 })))
    );
  }
}

/** The same in each activation that makes the attempt. */
export function attemptId({ location, attempt }: Pick<AttemptInfo, "location" | "attempt">): string {
  return `${location}#${attempt}`;
}
