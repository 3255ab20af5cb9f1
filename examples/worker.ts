import { setup } from "perdure";
import { createHandler } from "perdure/cloudflare";
import { inspector } from "perdure/inspector";
import { stubApi } from "./api-stub";
import { chatRoom } from "./chat-room/index";
import { childWorkerActor, orchestratorActor } from "./child-worker-orchestration/index";
import { coordinatorActor, workerActor } from "./coordinator-worker-rpc/index";
import { salesReportActor } from "./cron-report/index";
import { fanInOutActor } from "./fan-out-fan-in-join/index";
import { dashboardActor } from "./join/index";
import { importJob } from "./live-progress/index";
import { authorize, diary } from "./members-diary/index";
import { pollBackoffActor } from "./poll-backoff-loop/index";
import { workflowCounter } from "./quickstart-loops/index";
import { setupRunTeardownActor } from "./quickstart-setup-teardown/index";
import { invoiceActor } from "./quickstart-simple-workflow/index";
import { auctionActor } from "./race/index";
import { scatterGatherActor, shardActor } from "./scatter-gather-across-actors/index";
import { tenantNotes } from "./tenant-notes/index";
import { fallbackServiceActor, primaryServiceActor, timeoutFallbackActor } from "./timeout-fallback-actor/index";
import { timeoutActor } from "./timeouts/index";
import { reminderActor } from "./timers/index";

stubApi();

/** Everything that clients reach, under the names by which they do. */
export const registry = setup({
  use: {
    invoiceActor,
    workflowCounter,
    setupRunTeardownActor,
    reminderActor,
    timeoutActor,
    dashboardActor,
    auctionActor,
    fanInOutActor,
    scatterGatherActor,
    shardActor,
    pollBackoffActor,
    coordinatorActor,
    workerActor,
    orchestratorActor,
    childWorkerActor,
    timeoutFallbackActor,
    primaryServiceActor,
    fallbackServiceActor,
    salesReportActor,
    tenantNotes,
    chatRoom,
    importJob,
    diary,
  },
});

// http://localhost:6420/inspector/ shows any of them, on this machine only.
const handler = createHandler(registry, { authorize, inspector: inspector() });

/** The class behind the binding ACTORS in wrangler.toml: each actor is one object of it. */
export const { ActorObject } = handler;
export default handler;
