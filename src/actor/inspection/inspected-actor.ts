import { ActorError, fieldOf, parseActorId, type ActorAddress } from "../../protocol/index.js";
import type { InspectedObject } from "../activation/object-inspector.js";
import type { Part, PartActor, StoredWorkflow } from "../activation/part.js";
import type { CompiledActor } from "../definition/compiled-actor.js";
import type { ActorPorts, SqlDatabase, StoreActivation } from "../ports.js";
import type { ActorRecord } from "../storage/record.js";
import { openRecord } from "../storage/upgrades.js";
import { UpgradedRows } from "./upgraded-rows.js";

/** An actor as it is stored, brought to the present format in memory. */
export class InspectedActor {
  readonly record: ActorRecord;
  readonly rows: StoreActivation;
  readonly ports: ActorPorts;
  /** The user's tables. */
  readonly sql: SqlDatabase | undefined;
  /** Undefined if the registry no longer has the actor. */
  readonly definition: CompiledActor | undefined;
  /** The activation in memory, for what storage does not show. It may not be ready. */
  readonly activation: PartActor | undefined;
  readonly #reader: Required<Pick<Part, "inspect">> | undefined;

  /**
   * @throws {actor/not_found} when there is no such actor, or it is being destroyed
   * @throws {storage/newer_format} when a later release wrote it
   */
  constructor({ registry, ports, activation, stored: { current } }: InspectedObject, address: ActorAddress) {
    this.ports = ports;
    this.activation = activation;
    this.rows = new UpgradedRows(current);
    this.sql = fieldOf(current, "sql") as SqlDatabase | undefined;
    const record = openRecord(this.rows, ports);
    const isMeant =
      address.generation === undefined ||
      (record !== undefined && parseActorId(record.actorId)?.generation === address.generation);
    if (!record || record.destroyed || !isMeant)
      throw new ActorError("actor", "not_found", "There is no such actor, or it has been destroyed");
    this.record = record;
    const { actorNames } = registry;
    this.definition = actorNames.includes(record.name) ? registry.find(record.name) : undefined;
    const parts = actorNames.flatMap((name) => registry.find(name).parts.map(({ part }) => part as Part));
    this.#reader = parts.find((part) => fieldOf(part, "inspect") !== undefined) as Required<Part> | undefined;
  }

  /** Its workflow, if it has one and any actor of the registry brings what reads it. */
  get workflow(): StoredWorkflow | undefined {
    return this.record.workflow && this.#reader?.inspect(this.record, (prefix) => this.rows.list(prefix));
  }
}
