/** The inspector's side of an object. It is a part of its own: the core knows this interface, and no code behind it. */
import type { ActorAddress, InspectQuestion } from "../../protocol/index.js";
import type { Registry } from "../definition/registry.js";
import type { ActorPorts, Batch, Socket, StoreActivation } from "../ports.js";
import type { PartActor } from "./part.js";
import type { ActorRecord } from "../storage/record.js";

/** What is shown of an object. */
export interface InspectedObject {
  readonly registry: Registry;
  readonly ports: ActorPorts;
  /** The activation in memory, if there is one that serves. */
  readonly activation: PartActor | undefined;
  /** What is stored, for reading only. */
  readonly stored: { readonly current: StoreActivation };
  /**
   * Lets `act` change the actor and commit that, in memory or before a start; the actor starts then, and `started` runs in it.
   * @throws {actor/not_found} when there is no such actor
   * @throws whatever `act` throws
   */
  operate<T>(
    act: (actor: PartActor) => T,
    started: (actor: PartActor) => void,
  ): Promise<{ readonly record: ActorRecord; readonly result: T }>;
  /**
   * Runs `work` in the activation that serves, or starts one, as for a call. Returns false if there is no actor.
   * @throws whatever the start or `work` throws
   */
  serveExisting(work: (actor: PartActor) => Promise<void>): Promise<boolean>;
}

/** Shows the actor of an object to operators, and does what they ask. To a question nothing of the actor runs, and nothing is written. */
export interface ObjectInspector {
  /** Those who watch the object, of earlier activations too. */
  watchers(ports: Pick<ActorPorts, "replySockets">): ObjectWatchers;
  /**
   * `answer`: UTF-8 JSON.
   * @throws {actor/not_found} when there is no such actor
   * @throws {storage/newer_format} when a later release wrote it
   * @throws {storage/corrupt} when a row cannot be read
   */
  answer(
    object: InspectedObject,
    address: ActorAddress,
    question: InspectQuestion,
  ): Promise<{ readonly record: ActorRecord; readonly answer: Uint8Array }>;
}

/** Operators who watch an object. */
export interface ObjectWatchers {
  /**
   * Lets another one watch, through the socket that `accept` gives.
   * @throws {connection/too_many} when there are as many as there may be
   */
  add(accept: (token: string) => Socket): void;
  /** A commit was made: tells them what it changed. */
  committed(batch: Batch): void;
}
