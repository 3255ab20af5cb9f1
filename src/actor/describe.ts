import { legible } from "./legible.js";

/** Anything that was thrown, as the log shows it. Never throws. */
export function describe(thrown: unknown): string {
  const error = legible(thrown);
  return error instanceof Error ? (error.stack ?? String(error)) : String(error);
}
