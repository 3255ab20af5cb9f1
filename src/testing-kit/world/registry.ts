import type { Registry } from "../../actor/index.js";

/** @throws TypeError when it is no registry */
export function checkRegistry(what: string, given: unknown): Registry {
  const registry = given as Registry | null | undefined;
  if (Array.isArray(registry?.actorNames)) return registry;
  throw new TypeError(`${what}: the registry must be one that setup() made`);
}
