import type { Registry } from "../../src/actor/index.js";
import { World, type WorldOptions } from "../../src/testing/index.js";

/** A world on Node's event loop. */
export function testWorld(registry: Registry<never> | Registry, options: Partial<WorldOptions> = {}): World {
  return new World(registry as Registry, { nextTurn: (run) => setImmediate(run), ...options });
}
