import { missingModule } from "../protocol/index.js";

/** Actors from code that is loaded at run time: the platform does that with Workers for Platforms. Throws at import. */
export const dynamicActor: never = missingModule(
  "rivetkit/dynamic",
  "actors are deployed with their Worker; use Workers for Platforms to load code at run time.",
);
