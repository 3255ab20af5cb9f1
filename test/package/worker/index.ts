// A Worker of a user's own, with our object class and routes beside a Hono app.
import { Hono } from "hono";
import { createHandler, type ActorEnv } from "perdure/cloudflare";
import { registry } from "./registry.js";

interface Env extends ActorEnv {
  readonly GREETING: string;
}

const app = new Hono<{ Bindings: Env }>();
app.get("/", (c) => c.text(c.env.GREETING));
app.post("/visits/:name", async (c) => {
  const visits: number = await handler.client(c.env).visits.getOrCreate(c.req.param("name")).add(1);
  return c.json({ visits });
});

export const handler = createHandler(registry, { fetch: app.fetch, basePath: "/actors" });
export const { ActorObject } = handler;
export default handler;
