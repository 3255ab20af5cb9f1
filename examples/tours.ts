import * as childWorkers from "./child-worker-orchestration/client";
import * as coordinator from "./coordinator-worker-rpc/client";
import * as fanOut from "./fan-out-fan-in-join/client";
import * as join from "./join/client";
import * as membersDiary from "./members-diary/client";
import * as pollBackoff from "./poll-backoff-loop/client";
import * as loops from "./quickstart-loops/client";
import * as setupTeardown from "./quickstart-setup-teardown/client";
import * as simple from "./quickstart-simple-workflow/client";
import * as race from "./race/client";
import * as scatterGather from "./scatter-gather-across-actors/client";
import * as tenantNotes from "./tenant-notes/client";
import * as fallback from "./timeout-fallback-actor/client";
import * as timeouts from "./timeouts/client";
import * as timers from "./timers/client";
import type { Tour, TourResult } from "./tour";

type Run = (tour: Tour) => Promise<TourResult>;

/** Clients that need no crash, by the names of their folders: run one after the other. */
export const calm: Readonly<Record<string, Run>> = {
  "quickstart-simple-workflow": simple.run,
  "quickstart-loops": loops.run,
  "fan-out-fan-in-join": fanOut.run,
  "scatter-gather-across-actors": scatterGather.run,
  "coordinator-worker-rpc": coordinator.run,
  "timeout-fallback-actor": fallback.run,
  "poll-backoff-loop": pollBackoff.run,
  "members-diary": membersDiary.run,
};

/** Clients that ask for a crash in the middle: run side by side, so that one crash serves all. */
export const crashing: Readonly<Record<string, Run>> = {
  timers: timers.run,
  timeouts: timeouts.run,
  join: join.run,
  race: race.run,
  "quickstart-setup-teardown": setupTeardown.run,
  "child-worker-orchestration": childWorkers.run,
  "tenant-notes": tenantNotes.run,
};
