import { own } from "../protocol/index.js";
import type { ActorPorts, Registry } from "../actor/index.js";

/**
 * The way in for tests that run inside workerd (`perdure/testing/workers`), which share the isolate and this module with the
 * Worker. Nothing of a Worker sets `alterPorts`.
 */
export const testAccess: TestAccess = own({});

interface TestAccess {
  /** Changes what the platform does for an object that starts. */
  alterPorts?: (ports: ActorPorts) => ActorPorts;
  /** The registry of the handler that was made last. */
  registry?: Registry;
}
