/// <reference lib="esnext.disposable" preserve="true" />
import type { WorldHost } from "./world-host.js";

export interface Ending {
  /**
   * Ends the world: nothing of it runs on. A second call does nothing.
   *
   * @example
   *     await using world = await testWorld(registry);
   *     // ...
   *     await world.end();
   * @throws Error when an answer or a double that the test declared was never used, or nothing answered a request
   */
  end(): Promise<void>;
  /**
   * What `await using` calls at the end of its block, also when the test fails: the same end, but what `end()` would throw is
   * a warning, so that it never stands in front of the test's own error.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

export function endOf(host: WorldHost): Ending {
  const warn = (error: unknown): void =>
    process.emitWarning(error instanceof Error ? error.message : String(error), "PerdureTestingWarning");
  return { end: () => host.end(), [Symbol.asyncDispose]: () => host.end().catch(warn) };
}
