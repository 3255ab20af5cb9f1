/** The inspector's side of an object. It is a part of its own: the core knows this interface, and no code behind it. */
import type { ActorAddress, InspectQuestion } from "../../protocol/index.js";
import type { Registry } from "../definition/registry.js";
import type { ActorPorts, StoreActivation } from "../ports.js";
import type { ActorRecord } from "../storage/record.js";

/** What is shown of an object. */
export interface InspectedObject {
  readonly registry: Registry;
  readonly ports: ActorPorts;
  /** What is stored, for reading only. */
  readonly stored: StoreActivation;
}

/** Shows the actor of an object to operators, as it is stored. Nothing of the actor runs, and nothing is written. */
export interface ObjectInspector {
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
  ): { readonly record: ActorRecord; readonly answer: Uint8Array };
}
