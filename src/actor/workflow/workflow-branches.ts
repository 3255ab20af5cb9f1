import { formatLocation, type AttemptInfo, type OpenBranch } from "../../workflow/index.js";

/** The attempts that the workflow is making, and whether all its branches are in them. */
export class WorkflowBranches {
  readonly #openBranches: () => Iterable<OpenBranch>;
  readonly #attempts = new Set<AttemptInfo>();

  /** `openBranches` returns each open branch of the run. */
  constructor(openBranches: () => Iterable<OpenBranch>) {
    this.#openBranches = openBranches;
  }

  began(attempt: AttemptInfo): void {
    this.#attempts.add(attempt);
  }

  ended(attempt: AttemptInfo): void {
    this.#attempts.delete(attempt);
  }

  /** Whether there is only one branch, which must then answer every message the workflow holds. */
  get isSingle(): boolean {
    return [...this.#openBranches()].length === 1;
  }

  /** Whether every branch is in one of these attempts, given by `attemptId`. */
  wait(attempts: ReadonlySet<string>): boolean {
    const branches = [...this.#openBranches()].map(({ location }) => formatLocation(location));
    const open = new Map([...this.#attempts].map(({ location, attempt }) => [location, attempt]));
    return (
      branches.length > 0 &&
      branches.every((location) => attempts.has(attemptId({ location, attempt: open.get(location) ?? 0 })))
    );
  }
}

/** An id of an attempt that is the same in every activation. */
export function attemptId({ location, attempt }: Pick<AttemptInfo, "location" | "attempt">): string {
  return `${location}#${attempt}`;
}
