import { ActorError, parseActorId, type CallEnvelope } from "../../protocol/index.js";
import type { ActorRecord } from "../storage/record.js";

/** Whether the address means this actor. An address by id means one generation of the key. */
export function isAddressed(record: ActorRecord, address: CallEnvelope["address"]): boolean {
  return address?.generation === undefined || parseActorId(record.actorId)?.generation === address.generation;
}

/** @throws {actor/not_found} when the address means another generation of the key */
export function checkAddress(record: ActorRecord, address: CallEnvelope["address"]): void {
  if (!isAddressed(record, address)) throw notFound(address);
}

export function notFound(address: CallEnvelope["address"]): ActorError {
  const what =
    address.name === "" ? "There is no actor with this id" : `There is no actor "${address.name}" with this key`;
  return new ActorError("actor", "not_found", what);
}
