import { missingModule } from "../protocol/index.js";

/** Virtual machines for agents: a Worker runs none. Importing it throws. */
export const agentOs: never = missingModule(
  "rivetkit/agent-os",
  "a Worker runs no virtual machines; call one over HTTP from a step.",
);
