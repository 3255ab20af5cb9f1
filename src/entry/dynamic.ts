import { missingModule } from "../protocol/index.js";

/** Actors from code loaded at run time: use Workers for Platforms instead. Importing it throws. */
export const dynamicActor: never = missingModule(
  "rivetkit/dynamic",
  "actors are deployed with their Worker; use Workers for Platforms to load code at run time.",
);
