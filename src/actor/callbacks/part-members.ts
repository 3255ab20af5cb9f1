import { ActorError } from "../../protocol/index.js";

/** Members that contexts have getters for, which throw without the part. */
const GETTERS: ReadonlySet<string> = new Set(["db", "workflow"]);

/** Adds the other members of parts to a context. */
export function addMembers(context: object, members: ReadonlyMap<string, () => unknown>): void {
  for (const [name, get] of members) {
    if (!GETTERS.has(name)) Object.defineProperty(context, name, { get, enumerable: true, configurable: true });
  }
}

/** @throws {actor/database_not_configured} when the actor has no `db` */
export function memberOf<Make>(members: ReadonlyMap<string, Make>, name: "db" | "workflow"): Make {
  const make = members.get(name);
  if (make) return make;
  throw new ActorError(
    "actor",
    "database_not_configured",
    "This actor has no database. Give it one: `actor({ db: db(), … })`",
  );
}
