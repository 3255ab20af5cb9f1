import { createHandler } from "perdure/cloudflare";
import { registry } from "./registry.ts";

const handler = createHandler(registry);
export const { ActorObject } = handler;
export default handler;
