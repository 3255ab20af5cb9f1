import { setup, type AnyActorDefinition, type Registry } from "../../src/actor/index.js";
import type { InspectQuestion } from "../../src/protocol/index.js";
import type { ManualClock, WorldActor } from "../../src/testing/index.js";

/** A program to crash: what it is, how it is set off, and how long it may take. */
export interface Workload {
  readonly name: string;
  /** Makes the actor `subject` and whatever it calls. `ran` is told of every run of a step's callback. */
  registry(clock: ManualClock, ran: (step: string) => void): Registry;
  /** Messages of a client that sends each until it is acknowledged; the program must not mind one that comes twice. */
  readonly sends?: readonly string[];
  /** What an operator asks of it after that, each until it is acknowledged: a second time must do nothing. */
  readonly acts?: readonly InspectQuestion[];
  /** What it has in SQL and by key, which must come out exact as well. */
  readonly data?: (subject: WorldActor) => Promise<unknown>;
}

/** The registry of a program that calls nobody. */
export function one(subject: AnyActorDefinition): Registry {
  return setup({ use: { subject } }) as unknown as Registry;
}
