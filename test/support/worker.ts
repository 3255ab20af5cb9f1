import { createHandler } from "../../src/entry/cloudflare.js";
import { registry } from "./actors.js";

/** The Worker of the workerd test project: fixture actors, nothing of its own. */
const handler = createHandler(registry, { logLevel: "error" });

export const { ActorObject } = handler;
export default handler;
