/// <reference lib="esnext.disposable" preserve="true" />
import type { WorldHost } from "./world-host.js";

export interface Ending {
  /**
   * Ends the world: nothing of it runs on, and what the test declared and did not use is an error. A second call does
   * nothing. `await using world = await testWorld(registry)` does it at the end of its block.
   */
  end(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function endOf(host: WorldHost): Ending {
  return { end: () => host.end(), [Symbol.asyncDispose]: () => host.end() };
}
