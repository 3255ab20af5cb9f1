import { missingModule } from "../protocol/index.js";

/** Virtual machines for agents need a host of their own. Throws at import. */
export const agentOs: never = missingModule(
  "rivetkit/agent-os",
  "a Worker runs no virtual machines; call one over HTTP from a step.",
);
