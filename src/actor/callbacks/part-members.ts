import { ActorError } from "../../protocol/index.js";

/** Members that contexts have a getter for, which says what is missing without the part. */
const GETTERS: ReadonlySet<string> = new Set(["db", "workflow"]);

/** Gives a context the other members that parts make for it. */
export function addMembers(context: object, members: ReadonlyMap<string, () => unknown>): void {
  for (const [name, get] of members) {
    if (!GETTERS.has(name)) Object.defineProperty(context, name, { get, enumerable: true, configurable: true });
  }
}

/** @throws actor/database_not_configured for `db` of an actor without one */
export function memberOf<Make>(members: ReadonlyMap<string, Make>, name: "db" | "workflow"): Make {
  const make = members.get(name);
  if (make) return make;
  throw new ActorError(
    "actor",
    "database_not_configured",
    "This actor has no database. Give it one: `actor({ db: db(), … })`",
  );
}
