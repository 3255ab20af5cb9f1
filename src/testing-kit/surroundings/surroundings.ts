/** What user code finds around it in a world: the time of `Date`, the answers of `fetch`, and `env`. */
import type { ActorProcess } from "../../testing/index.js";
import type { WorldHost } from "../world/world-host.js";
import { replaceGlobals } from "./globals.js";
import { Outbound, type WorldFetch } from "./outbound.js";
import { inPlace, type Place } from "./place.js";

export interface Surroundings {
  /** Answers what the actors request of the outside by `fetch`. What nothing answers is an error. */
  readonly fetch: WorldFetch;
}

export function surroundingsOf(host: WorldHost): Surroundings {
  const { clock } = host.world;
  const outbound = new Outbound(() => clock.now(), {
    awaited: (begin) => host.awaited(begin),
    working: (begin) => host.working(begin),
  });
  const placeOf = (process: ActorProcess | undefined): Place => ({
    process,
    env: host.options.env,
    now: () => clock.now(),
    fetch: (request, of) => outbound.answer(request, of),
  });
  const places = new WeakMap<ActorProcess, Place>();
  host.hooks.enter = (process, run) => {
    let place = places.get(process);
    if (!place) places.set(process, (place = placeOf(process)));
    return inPlace(place, run);
  };
  const worker = placeOf(undefined);
  host.hooks.enterWorker = (run) => inPlace(worker, run);
  const giveBack = replaceGlobals();
  host.onEnd(() => {
    giveBack();
    outbound.checkUsed();
  });
  return { fetch: outbound.view };
}
