/** The ids in an answer to `GET /actors`. Throws on anything else. */
export function foundIds(answer: Uint8Array): string[] {
  const { actors } = parseObject(answer);
  if (!Array.isArray(actors)) throw new TypeError("The answer has no list of actors.");
  return actors.map(idOf);
}

/** The id in an answer to `PUT` or `POST /actors`. Throws on anything else. */
export function createdId(answer: Uint8Array): string {
  return idOf(parseObject(answer)["actor"]);
}

function parseObject(answer: Uint8Array): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(new TextDecoder().decode(answer));
  if (typeof value !== "object" || value === null) throw new TypeError("The answer is no object.");
  return value as Record<string, unknown>;
}

function idOf(actor: unknown): string {
  const id = typeof actor === "object" && actor !== null ? (actor as { actor_id?: unknown }).actor_id : undefined;
  if (typeof id !== "string") throw new TypeError("The answer has an actor without id.");
  return id;
}
