import { ActorError } from "./errors.js";

/** For entries that exist to say that something does not. @throws feature/unsupported */
export function missingModule(path: string, instead: string): never {
  throw new ActorError(
    "feature",
    "unsupported",
    `There is no "${path}" here: ${instead} See docs/guides/migrating-from-rivetkit.md.`,
  );
}
