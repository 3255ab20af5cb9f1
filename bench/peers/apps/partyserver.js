// The jobs as one writes them with PartyServer: its own routing, storage and alarms of the platform.
import { routePartykitRequest, Server } from "partyserver";

export class Measured extends Server {
  static options = { hibernate: true };

  async set(next) {
    await this.ctx.storage.put("value", next);
    return next;
  }

  async get() {
    return (await this.ctx.storage.get("value")) ?? 0;
  }

  async sleepUntil(at) {
    await this.ctx.storage.put("at", at);
    await this.ctx.storage.setAlarm(at);
  }

  async lateMs() {
    return (await this.ctx.storage.get("lateMs")) ?? [];
  }

  async beat(url) {
    await this.ctx.storage.put("url", url);
    await this.ctx.storage.setAlarm(Date.now());
  }

  /** Work in an alarm: the platform repeats it after a crash. */
  async onAlarm() {
    const url = await this.ctx.storage.get("url");
    for (let beat = 0; url !== undefined; beat += 1) {
      await fetch(url);
      await this.ctx.storage.put("beat", beat);
      await scheduler.wait(20);
    }
    const at = await this.ctx.storage.get("at");
    await this.ctx.storage.put("lateMs", [...(await this.lateMs()), Date.now() - at]);
  }

  async onMessage(connection, message) {
    const { id, args } = JSON.parse(message);
    connection.send(JSON.stringify({ id, output: await this.set(...args) }));
  }

  /** POST …/{method} with a list of arguments. */
  async onRequest(request) {
    const method = new URL(request.url).pathname.split("/").at(-1);
    const { args } = await request.json();
    return Response.json({ output: await this[method](...args) });
  }
}

export default {
  fetch: async (request, env) => (await routePartykitRequest(request, env)) ?? new Response(),
};
