/** The two halves of an actor id, both lower-case hex. */
export interface ActorIdParts {
  /** 64 digits: the Durable Object's id. */
  objectId: string;
  /** 16 digits, new at each creation of the actor. */
  generation: string;
}

const ACTOR_ID = /^([0-9a-f]{64})-([0-9a-f]{16})$/;

/** Formats the id of one life of an actor. Throws a TypeError for invalid halves: an engine bug. */
export function formatActorId(objectIdHex: string, generationHex: string): string {
  const id = `${objectIdHex}-${generationHex}`;
  if (!ACTOR_ID.test(id)) throw new TypeError(`An actor id must be 64 and 16 hex digits, not ${id}`);
  return id;
}

/** Parses an actor id; `undefined` for any other string, which may be an actor's name. */
export function parseActorId(id: string): ActorIdParts | undefined {
  const [, objectId, generation] = ACTOR_ID.exec(id) ?? [];
  return objectId === undefined || generation === undefined ? undefined : { objectId, generation };
}
