import type { StoredMessage } from "../../workflow/index.js";

/** The parts of an activation, as contexts and the queue use them. */
export interface PartMembers {
  /** Members that parts add to the contexts of actions and hooks, by name. */
  readonly members: ReadonlyMap<string, () => unknown>;
  /** Members that parts add to the contexts of steps, by name. */
  readonly stepMembers: ReadonlyMap<string, (step: StepUse) => unknown>;
  /** Counts the writes of user code through parts. */
  readonly writes: number;
  /** Whether all that could receive a message waits in these attempts of steps. */
  waitsIn(steps: ReadonlySet<string>): boolean;
  /** The messages that parts have taken from the queue, as stored. */
  takenMessages(): Iterable<TakenMessage>;
}

/** What the member of a step's context gets from the step. */
export interface StepUse {
  /** @throws {workflow/step_ended} when the attempt has ended */
  guard(): void;
  /** Runs work that the attempt waits for, and returns the promise for user code. */
  begin<T>(work: () => Promise<T>): Promise<T>;
}

export interface TakenMessage extends Pick<StoredMessage, "id" | "createdAt" | "token" | "waitUntil"> {
  /** Whether it is still stored and reserved. */
  readonly isHeld: boolean;
  /** The reply that it was completed with while its sender waited, if that is still known. */
  readonly given?: { readonly reply?: Uint8Array };
}
