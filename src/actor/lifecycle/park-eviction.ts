import { ActorError, ownField } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { isInFlight } from "../activation/workflow-outcome.js";
import type { Background } from "../callbacks/background.js";
import type { Parts } from "./parts.js";
import type { Sleep } from "./sleep.js";

/** What the eviction needs from its actor. */
export interface ParkedActor extends Pick<
  ActorActivation,
  "callbacks" | "commit" | "isReady" | "ports" | "record" | "shutdown"
> {
  readonly background: Background;
  readonly lost: Error | undefined;
  readonly parts: Pick<Parts, "tell">;
  readonly sleep: Pick<Sleep, "isIdle">;
  readonly stateChanges: { tell(): void };
  end(reason: Error): void;
}

/**
 * A mode for development: drops the activation whenever its workflow is parked and nothing else is in progress. The object
 * stays, with its sockets, and the next event starts the actor from what is stored. That is what an eviction does, here at
 * every place where one can happen, so that code which relies on memory fails on its first run.
 */
export class ParkEviction {
  readonly #actor: ParkedActor;
  #isAhead = false;

  constructor(actor: ParkedActor) {
    this.#actor = actor;
  }

  /** The workflow has parked, or something else has ended: evicts once all other events have had their turn. */
  soon(): void {
    const { ports, background } = this.#actor;
    if (!ownField(ports, "evictAtPark") || this.#isAhead) return;
    this.#isAhead = true;
    const evict = (): void => {
      this.#isAhead = false;
      if (this.#isAtRest) this.#evict();
    };
    ports.waitUntil(
      ports
        .yield()
        .then(() => background.settled(Number.POSITIVE_INFINITY))
        .then(evict),
    );
  }

  get #isAtRest(): boolean {
    const { callbacks, isReady, lost, record, shutdown, sleep } = this.#actor;
    return isReady && !lost && !shutdown.isBegun && sleep.isIdle && !callbacks.areOpen && isInFlight(record.workflow);
  }

  #evict(): void {
    const { parts, stateChanges } = this.#actor;
    if (!this.#actor.commit()) return;
    stateChanges.tell();
    // Operations of the run never settle, as in an eviction; `end` alone would let those that it rejects be caught.
    parts.tell("suspend");
    this.#actor.end(new ActorError("actor", "aborted", "The actor left memory when its workflow parked (evictAtPark)"));
  }
}
