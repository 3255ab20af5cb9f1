import type { CallEnvelope, ReplyEnvelope } from "../../protocol/index.js";

/** The id of an object, as the namespace makes it. */
export interface ObjectId {
  toString(): string;
}

/** What the object shows to the Worker. It never rejects for an error of the actor: those are data. */
export interface ActorStub {
  call(envelope: CallEnvelope): Promise<ReplyEnvelope>;
  /** What cannot be data: upgrades. The envelope is in a header. */
  fetch(request: Request): Promise<Response>;
}

/** As much of a Durable Object namespace as routing needs. */
export interface ActorNamespace {
  idFromName(name: string): ObjectId;
  /** @throws if the text is no id of this namespace */
  idFromString(id: string): ObjectId;
  get(id: ObjectId, options?: { readonly locationHint?: string }): ActorStub;
}
