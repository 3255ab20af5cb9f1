/** The two halves of an actor id, both lower-case hex. */
export interface ActorIdParts {
  /** 64 digits: the Durable Object's id. */
  objectId: string;
  /** 16 digits, made new at each creation of the key. */
  generation: string;
}

const ACTOR_ID = /^([0-9a-f]{64})-([0-9a-f]{16})$/;

/** The id of one life of an actor. Throws a TypeError if a half is no lower-case hex of its length: an engine's mistake. */
export function formatActorId(objectIdHex: string, generationHex: string): string {
  const id = `${objectIdHex}-${generationHex}`;
  if (!ACTOR_ID.test(id)) throw new TypeError(`An actor id is 64 and 16 hex digits, not ${id}`);
  return id;
}

/** The halves of an actor id, `undefined` if the text is none (it may be an actor's name then). */
export function parseActorId(id: string): ActorIdParts | undefined {
  const [, objectId, generation] = ACTOR_ID.exec(id) ?? [];
  return objectId === undefined || generation === undefined ? undefined : { objectId, generation };
}
