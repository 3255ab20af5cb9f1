import { createHandler } from "perdure/cloudflare";
import { registry } from "./trial";

const handler = createHandler(registry);
export const { ActorObject } = handler;
export default handler;
