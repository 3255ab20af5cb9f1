import type { ActionCall, CallEnvelope, ReplyEnvelope } from "../../protocol/index.js";

/** The id of an object, made by its namespace. */
export interface ObjectId {
  toString(): string;
}

/** The object's methods for the Worker. They never reject with an actor's error: those are data. */
export interface ActorStub {
  call(sent: CallEnvelope | ActionCall): Promise<ReplyEnvelope>;
  /** Upgrades and raw requests, whose envelope is in a header. */
  fetch(request: Request | string, init?: { readonly headers: Readonly<Record<string, string>> }): Promise<Response>;
}

/** The part of a Durable Object namespace that routing needs. */
export interface ActorNamespace {
  idFromName(name: string): ObjectId;
  /** @throws when the string is not an id of this namespace */
  idFromString(id: string): ObjectId;
  get(id: ObjectId, options?: { readonly locationHint?: string }): ActorStub;
}
