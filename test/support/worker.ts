import { DurableObject } from "cloudflare:workers";

/** A placeholder until the real object class is here. */
export class ActorObject extends DurableObject {
  #inMemory = 0;

  override async fetch(): Promise<Response> {
    this.#inMemory++;
    this.ctx.storage.kv.put("count", (this.ctx.storage.kv.get<number>("count") ?? 0) + 1);
    await this.ctx.storage.setAlarm(Date.now() + 3_600_000);
    return Response.json({ stored: this.ctx.storage.kv.get("count"), inMemory: this.#inMemory });
  }

  override alarm(): void {
    this.ctx.storage.kv.put("count", 100);
  }
}

export default { fetch: () => new Response("test worker") };
