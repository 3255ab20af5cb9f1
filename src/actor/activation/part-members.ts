import type { StoredMessage } from "../../workflow/index.js";

/** The parts of an activation, as contexts and the queue use them. */
export interface PartMembers {
  /** Members of the contexts of actions and hooks, by name. */
  readonly members: ReadonlyMap<string, () => unknown>;
  /** The same for the contexts of steps. */
  readonly stepMembers: ReadonlyMap<string, (step: StepUse) => unknown>;
  /** Counts what user code has stored through parts. */
  readonly writes: number;
  /** True if whoever waits in all of these attempts of steps can receive nothing. */
  waitsIn(steps: ReadonlySet<string>): boolean;
  /** What parts have taken of the queue, by the rows that are stored. */
  takenMessages(): Iterable<TakenMessage>;
}

/** What a member of a step's context must keep to. */
export interface StepUse {
  /** @throws workflow/step_ended once the attempt has ended */
  guard(): void;
  /** Runs what the attempt begins and waits for; gives the promise that user code gets. */
  begin<T>(work: () => Promise<T>): Promise<T>;
}

export interface TakenMessage extends Pick<StoredMessage, "id" | "createdAt"> {
  /** It is stored still, and nobody else's. */
  readonly isHeld: boolean;
}
