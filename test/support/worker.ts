import { DurableObject } from "cloudflare:workers";

/** A placeholder until the real object class is here. */
export class ActorObject extends DurableObject {
  override alarm(): void {}
}

export default { fetch: () => new Response("test worker") };
