import { missingModule } from "../protocol/index.js";

/** The wire format of RivetKit's inspector. Throws at import. */
export const inspector: never = missingModule(
  "rivetkit/inspector",
  "`c.workflow.history()` and `c.workflow.status()` show a run.",
);
