/** What `npm run bench` measures: actors of ours, and objects written by hand that do the same, in one Worker. */
import { DurableObject } from "cloudflare:workers";
import { actor, setup } from "perdure";
import { createHandler } from "perdure/cloudflare";
import { workflow } from "perdure/workflow";

interface Env {
  readonly ACTORS: DurableObjectNamespace<CountedActor>;
  readonly BARE: DurableObjectNamespace<Bare>;
}

const value = actor({
  state: { value: 0 },
  actions: {
    get: (c) => c.state.value,
    set: (c, next: number) => {
      c.state.value = next;
      return next;
    },
  },
});

/** Runs as many steps as a message says, and answers when they are done. */
const steps = actor({
  state: { sum: 0 },
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const message = await loop.queue.next("wait", { completable: true });
      const { count, changesState } = message.body as { count: number; changesState: boolean };
      for (let index = 0; index < count; index += 1) {
        await loop.step(`step-${index}`, (step) => {
          if (changesState) step.state.sum += 1;
          return index;
        });
      }
      await message.complete(count);
    });
  }),
  actions: { get: (c) => c.state.sum },
});

/** Sleeps as often as it is told, and says how late each wake was. */
const sleeper = actor({
  state: { lateMs: [] as number[] },
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const { body } = await loop.queue.next("wait");
      const { count, durationMs } = body as { count: number; durationMs: number };
      for (let index = 0; index < count; index += 1) {
        const at = await loop.step(`begin-${index}`, () => Date.now() + durationMs);
        await loop.sleepUntil(`sleep-${index}`, at);
        await loop.step(`end-${index}`, (step) => {
          step.state.lateMs.push(Date.now() - at);
        });
      }
    });
  }),
  actions: { get: (c) => c.state.lateMs },
});

/** A loop as RivetKit's documentation has it: a message, a step that changes state, and again. */
const counter = actor({
  state: { processed: 0 },
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      await loop.queue.next("wait");
      await loop.step("apply", (step) => {
        step.state.processed += 1;
      });
    });
  }),
  actions: { get: (c) => c.state.processed },
});

/** Tells all that are connected. */
const room = actor({
  actions: {
    tell: (c, n: number) => c.broadcast("n", n),
    count: (c) => c.conns.size,
  },
});

const handler = createHandler(setup({ use: { value, steps, sleeper, counter, room } }), {
  fetch: (request, env: Env) => route(request, env),
});

/** Our object, with a look at what it writes. */
class CountedActor extends handler.ActorObject {
  #alarms = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    const setAlarm = ctx.storage.setAlarm.bind(ctx.storage);
    ctx.storage.setAlarm = (at, options) => {
      this.#alarms += 1;
      return setAlarm(at, options);
    };
    super(ctx, env);
  }

  written(): { rows: number; alarms: number } {
    return { rows: changes(this.ctx.storage), alarms: this.#alarms };
  }
}
export { CountedActor as ActorObject };

/** What one writes by hand for the same purpose, and no more: no key, no names, no errors, no retries. */
export class Bare extends DurableObject<Env> {
  set(next: number): number {
    this.ctx.storage.kv.put("value", next);
    return next;
  }

  get(): number {
    return this.ctx.storage.kv.get<number>("value") ?? 0;
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

  sleep(count: number, durationMs: number): void {
    this.ctx.storage.kv.put("sleeps", { count, durationMs });
    this.#arm(durationMs);
  }

  lateMs(): number[] {
    return this.ctx.storage.kv.get<number[]>("lateMs") ?? [];
  }

  override alarm(): void {
    const { count, durationMs } = this.ctx.storage.kv.get<{ count: number; durationMs: number }>("sleeps") ?? {
      count: 0,
      durationMs: 0,
    };
    const lateMs = [...this.lateMs(), Date.now() - (this.ctx.storage.kv.get<number>("at") ?? 0)];
    this.ctx.storage.kv.put("lateMs", lateMs);
    if (lateMs.length < count) this.#arm(durationMs);
  }

  override fetch(): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  broadcast(text: string): void {
    for (const socket of this.ctx.getWebSockets()) socket.send(text);
  }

  written(): { rows: number; alarms: number } {
    return { rows: changes(this.ctx.storage), alarms: 0 };
  }

  /** Whether the count of rows holds the alarms. */
  async alarmRows(): Promise<number> {
    const before = changes(this.ctx.storage);
    await this.ctx.storage.setAlarm(Date.now() + 3_600_000);
    return changes(this.ctx.storage) - before;
  }

  #arm(durationMs: number): void {
    const at = Date.now() + durationMs;
    this.ctx.storage.kv.put("at", at);
    void this.ctx.storage.setAlarm(at);
  }
}

function changes(storage: DurableObjectStorage): number {
  return Number(storage.sql.exec("select total_changes() as rows").one()["rows"]);
}

/** POST /bare/{method}/{name} and /written/{actor}/{key}, with a list of arguments as JSON. */
async function route(request: Request, env: Env): Promise<Response> {
  const [, kind, what = "", name = ""] = new URL(request.url).pathname.split("/");
  if (kind === "bare-socket") return env.BARE.get(env.BARE.idFromName(what)).fetch(request);
  if (kind === "nothing") return Response.json({ output: 0 });
  if (kind === "written") {
    const stub =
      what === "bare"
        ? env.BARE.get(env.BARE.idFromName(name))
        : env.ACTORS.get(env.ACTORS.idFromName(JSON.stringify([what, name])));
    return Response.json({ output: await stub.written() });
  }
  const { args } = (await request.json()) as { args: unknown[] };
  const stub = env.BARE.get(env.BARE.idFromName(name)) as unknown as Record<
    string,
    (...args: unknown[]) => Promise<unknown>
  >;
  return Response.json({ output: await stub[what]?.(...args) });
}

export default handler;
