import type { ActorDefinitions, Registry } from "../actor/index.js";
import { controlOf, type Control } from "./control/control.js";
import { lookOf, type Look } from "./control/look.js";
import { doublesOf, type Doubles } from "./doubles/doubles.js";
import { clientsOf, type Clients } from "./world/clients.js";
import { recordingOf, type Recording } from "./histories/recording.js";
import { endOf, type Ending } from "./world/ending.js";
import { surroundingsOf, type Surroundings } from "./surroundings/surroundings.js";
import type { TestWorldOptions } from "./world/options.js";
import { clockOf, type WorldClock } from "./world/clock.js";
import { WorldHost } from "./world/world-host.js";

/** A world of actors in this process, made by `testWorld()`. */
export interface TestWorld<D extends ActorDefinitions = ActorDefinitions>
  extends Clients<D>, WorldClock, Doubles<D>, Control, Look, Recording, Surroundings, Ending {
  /**
   * Deploys other code: every process ends, and the same storage goes on under this registry. Returns the same world, with the
   * types of the new registry.
   *
   * @example
   *     const next = world.redeploy(setup({ use: { order: secondVersion } }));
   */
  redeploy<N extends ActorDefinitions>(registry: Registry<N>): TestWorld<N>;
}

/** What a world can do: each of these is a room's, or a file's of `world/`, and gives methods over the one host. */
const CAPABILITIES: readonly ((host: WorldHost) => object)[] = [
  clientsOf,
  clockOf,
  doublesOf,
  controlOf,
  lookOf,
  recordingOf,
  surroundingsOf,
  endOf,
];

/**
 * Runs the actors of a registry in this process, on a clock that moves only when nothing runs. Needs no Worker and no
 * network, and no test waits.
 *
 * @example
 *     await using world = await testWorld(registry);
 *     const order = world.client.order.getOrCreate(["o-1"]);
 *     await order.send("approvals", { by: "ada" });
 *     await world.advance("3 days");
 *     expect(await order.status()).toBe("paid");
 * @throws TypeError when an option is unknown or not valid
 */
export async function testWorld<D extends ActorDefinitions>(
  registry: Registry<D>,
  options?: TestWorldOptions,
): Promise<TestWorld<D>> {
  return worldOver(await WorldHost.start(registry as unknown as Registry, options));
}

/** All that a world can do, over one host. */
export function worldOver<D extends ActorDefinitions>(host: WorldHost): TestWorld<D> {
  const world = {};
  for (const capability of CAPABILITIES)
    Object.defineProperties(world, Object.getOwnPropertyDescriptors(capability(host)));
  return world as TestWorld<D>;
}
