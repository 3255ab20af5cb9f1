// worker.ts
import { createHandler } from "perdure/cloudflare";
import { registry } from "./order.js";

const handler = createHandler(registry);
export const { ActorObject } = handler;
export const client = handler.client;
export default handler;
