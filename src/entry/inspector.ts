import { missingModule } from "../protocol/index.js";

/** The wire format of RivetKit's inspector: Perdure has no inspector. Importing it throws. */
export const inspector: never = missingModule(
  "rivetkit/inspector",
  "`c.workflow.history()` and `c.workflow.status()` show a run.",
);
