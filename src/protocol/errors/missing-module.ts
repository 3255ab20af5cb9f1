import { ActorError } from "./errors.js";

/**
 * For entry points of RivetKit that exist here only to say what to use instead.
 *
 * @throws {feature/unsupported} always
 */
export function missingModule(path: string, instead: string): never {
  throw new ActorError(
    "feature",
    "unsupported",
    `There is no "${path}" here: ${instead} See docs/guides/migrating-from-rivetkit.md`,
  );
}
