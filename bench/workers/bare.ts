/** What one writes by hand for the same purposes, and no more: no key, no names, no errors, no retries. */
import { DurableObject } from "cloudflare:workers";

interface Env {
  readonly ACTORS: DurableObjectNamespace<ActorObject>;
}

/** What a socket's call says. */
interface SocketCall {
  readonly id: number;
  readonly name: "get" | "set";
  readonly args: [number];
}

export class ActorObject extends DurableObject<Env> {
  #alarms = 0;
  #isTaking = false;
  #lastMessage = 0;

  set(next: number): number {
    this.ctx.storage.kv.put("value", next);
    return next;
  }

  get(): number {
    return this.ctx.storage.kv.get<number>("value") ?? 0;
  }

  /** Keeps a message, and takes it after the answer. */
  send(body: unknown): void {
    this.#keep(body);
    void this.#take();
  }

  /** Keeps a message, takes it, and answers. */
  async request(body: unknown): Promise<unknown> {
    this.#keep(body);
    await this.#take();
    return body;
  }

  /** Messages from inside, each taken before the next is. */
  async fill(count: number): Promise<number> {
    for (let index = 0; index < count; index += 1) this.#keep(index);
    await this.#take();
    return count;
  }

  /** A step's result in a row each; `isSynced` waits for the disk after each. */
  async steps(count: number, isSynced: boolean): Promise<number> {
    const run = crypto.randomUUID();
    for (let index = 0; index < count; index += 1) {
      const result = await Promise.resolve(index);
      this.ctx.storage.kv.put(`${run}/${index}`, { name: `step-${index}`, status: "completed", result });
      if (isSynced) await this.ctx.storage.sync();
    }
    return count;
  }

  /** A step's result and the state, together, and the disk, for each. */
  async changingSteps(count: number): Promise<number> {
    for (let index = 0; index < count; index += 1) {
      const result = await Promise.resolve(index);
      this.ctx.storage.kv.put(`step/${index}`, { name: `step-${index}`, status: "completed", result });
      this.ctx.storage.kv.put("value", this.get() + 1);
      await this.ctx.storage.sync();
    }
    return count;
  }

  /** A position and a state, and the disk, for each iteration. */
  async iterate(count: number): Promise<number> {
    for (let index = 0; index < count; index += 1) {
      this.ctx.storage.kv.put("position", index);
      this.ctx.storage.kv.put("value", this.get() + 1);
      await this.ctx.storage.sync();
    }
    return count;
  }

  /** The same without waiting for the disk: what is awaited of the storage keeps other calls out. */
  async iterateBesideCalls(count: number): Promise<number> {
    for (let index = 0; index < count; index += 1) {
      this.ctx.storage.kv.put("position", index);
      this.ctx.storage.kv.put("value", this.get() + 1);
      if (index % 25 === 0) await scheduler.wait(0);
    }
    return count;
  }

  /** Reads all that `steps` has written, as a start that needs it does. */
  load(): number {
    return [...this.ctx.storage.kv.list()].length;
  }

  async sleepUntil(at: number): Promise<void> {
    this.ctx.storage.kv.put("at", at);
    await this.#arm(at);
  }

  lateMs(): number[] {
    return this.ctx.storage.kv.get<number[]>("lateMs") ?? [];
  }

  /** Works without an end, in an alarm, which the platform repeats after a crash. */
  async beat(url: string): Promise<void> {
    this.ctx.storage.kv.put("url", url);
    await this.#arm(Date.now());
  }

  override async alarm(): Promise<void> {
    const url = this.ctx.storage.kv.get<string>("url");
    for (let beat = 0; url !== undefined; beat += 1) {
      await fetch(url);
      this.ctx.storage.kv.put("beat", beat);
      await scheduler.wait(20);
    }
    const at = this.ctx.storage.kv.get<number>("at") ?? 0;
    this.ctx.storage.kv.put("lateMs", [...this.lateMs(), Date.now() - at]);
  }

  override fetch(): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketMessage(socket: WebSocket, data: string): void {
    const { id, name, args } = JSON.parse(data) as SocketCall;
    const output = name === "set" ? this.set(...args) : this.get();
    socket.send(JSON.stringify({ id, output }));
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  tell(n: number): void {
    const text = JSON.stringify({ n });
    for (const socket of this.ctx.getWebSockets()) socket.send(text);
  }

  written(): { rows: number; alarms: number } {
    return { rows: this.#changes(), alarms: this.#alarms };
  }

  /** Whether the count of rows holds the alarms. */
  async alarmRows(): Promise<number> {
    const before = this.#changes();
    await this.ctx.storage.setAlarm(Date.now() + 3_600_000);
    return this.#changes() - before;
  }

  evict(): void {
    this.ctx.abort("evicted");
  }

  #keep(body: unknown): void {
    this.#lastMessage += 1;
    this.ctx.storage.kv.put(`message/${this.#lastMessage}`, body);
  }

  /** One after the other; each is off the disk before the next is taken. */
  async #take(): Promise<void> {
    if (this.#isTaking) return;
    this.#isTaking = true;
    await this.ctx.storage.sync();
    for (;;) {
      const [first] = this.ctx.storage.kv.list({ prefix: "message/", limit: 1 });
      if (!first) break;
      this.ctx.storage.kv.delete(first[0]);
      this.ctx.storage.kv.put("value", this.get() + 1);
      await this.ctx.storage.sync();
    }
    this.#isTaking = false;
  }

  #arm(at: number): Promise<void> {
    this.#alarms += 1;
    return this.ctx.storage.setAlarm(at);
  }

  #changes(): number {
    return Number(this.ctx.storage.sql.exec("select total_changes() as rows").one()["rows"]);
  }
}

/** POST /{method}/{name} with a list of arguments as JSON; a WebSocket at /socket/{name}; /health. */
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, method = "", name = ""] = new URL(request.url).pathname.split("/");
    if (method === "health") return new Response();
    const stub = env.ACTORS.get(env.ACTORS.idFromName(name));
    if (method === "socket") return stub.fetch(request);
    const { args } = (await request.json()) as { args: unknown[] };
    const methods = stub as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    return Response.json({ output: await methods[method]?.(...args) });
  },
};
